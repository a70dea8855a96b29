// SPDX-License-Identifier: Apache-2.0
// A language model as a model of a repository: tensors in and out, many requests in one batch, responses as tokens
// come.
#pragma once

#include <memory>
#include <string>

#include "server/backend/llm/infer/ask.h"
#include "server/core/infer_model.h"
#include "server/core/text_model.h"

namespace nereid::server {

struct LlmInferParts {
  ModelConfig config;
  std::string json;
  int64_t version = 1;
  std::shared_ptr<TextModel> model;  // others may hold it too: a reload that changes no weights
  AskStyle style = AskStyle::kPlain;
  bool accumulates = false;  // responses of a stream hold all there is so far
  double load_s = 0;
};

// Its text() offers the same model to protocols of texts; what they ask counts as its requests, too. kInvalidArgument:
// the configuration names an input or output that a language model does not have.
Result<std::shared_ptr<InferModel>> serve_llm(LlmInferParts parts);

}  // namespace nereid::server
