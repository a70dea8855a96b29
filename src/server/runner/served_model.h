// SPDX-License-Identifier: Apache-2.0
// A loaded version of a model: its queue, its instances with a thread each, and its numbers, round a backend's model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/core/backend.h"
#include "server/core/infer_model.h"

namespace nereid::server {

struct ServedParts {
  ModelConfig config;
  std::string json;
  std::vector<std::vector<std::string>> labels;  // of each output
  int64_t version = 1;
  std::unique_ptr<BackendModel> backend;
  double load_s = 0;  // that opening it took
};

// The instances that the configuration asks for. kInvalidArgument: none; else the backend's errors.
Result<std::vector<std::unique_ptr<BackendInstance>>> make_instances(const ServedParts& parts);
// Names for the classes of an output.
const std::vector<std::string>& labels_of(const ServedParts& parts, std::string_view output);

// Also models with sequences (sequence_model.h). Errors: those of make_instances.
Result<std::shared_ptr<InferModel>> serve_model(ServedParts parts);

}  // namespace nereid::server
