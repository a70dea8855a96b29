// SPDX-License-Identifier: Apache-2.0
// A model that is other models, one's outputs the next one's inputs: what is wanted decides which of them run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/core/infer_models.h"

namespace nereid::server {

struct EnsembleParts {
  ModelConfig config;
  std::string json;
  std::vector<std::vector<std::string>> labels;  // of each output
  int64_t version = 1;
  const InferModels* models = nullptr;  // outlives it
};

// kInvalidArgument: steps that do not fit together: a tensor that nobody makes or that two make, an input of a step
// that is not given, types that differ; kUnsupported: a step that answers several times.
Result<std::shared_ptr<InferModel>> make_ensemble(EnsembleParts parts);

}  // namespace nereid::server
