// SPDX-License-Identifier: Apache-2.0
// What a configuration, its parameters and (vLLM's) model.json say of how a language model is to be opened. No weights
// are read.
#pragma once

#include <string>
#include <vector>

#include "server/backend/llm/infer/known_tensors.h"
#include "server/backend/llm/llm_model.h"
#include "server/core/backend.h"

namespace nereid::server {

struct LlmPlan {
  std::string path;  // of the weights, or a name that somebody knows; "": nothing says where
  LlmModelOptions options;
  AskStyle style = AskStyle::kPlain;
  AskForm form = AskForm::kText;
  bool accumulates = false;
  struct Adapter {
    std::string name, path;
  };
  std::vector<Adapter> adapters;
};

// kInvalidArgument: a parameter with a value that it does not take, a model.json that is none, a `${...}` that nobody
// has filled in.
Result<LlmPlan> plan_llm(const ModelConfig& config, const ModelPlace& place);

// Of the configuration's backend, or of what lies in the version's folder; false: no language model.
bool is_llm_backend(std::string_view backend);

}  // namespace nereid::server
