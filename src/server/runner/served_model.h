// SPDX-License-Identifier: Apache-2.0
// A loaded version of a model: its queue, its instances with a thread each, and its numbers, round a backend's model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/core/backend.h"
#include "server/core/infer_model.h"
#include "server/runner/host_policy.h"
#include "server/runner/rate_gate.h"

namespace nereid::server {

// What all models of a server share.
struct RunnerRules {
  std::shared_ptr<RateGate> gate;  // nullptr: every instance runs when it can
  HostPolicies policies;
};

struct ServedParts {
  ModelConfig config;
  std::string json;
  std::vector<std::vector<std::string>> labels;  // of each output
  int64_t version = 1;
  std::unique_ptr<BackendModel> backend;
  double load_s = 0;                           // that opening it took
  std::string folder;                          // of the model: warmup, initial_state
  uint64_t content_mark = 0;                   // InferModel::content_mark
  std::shared_ptr<const RunnerRules> rules{};  // nullptr: none
};

// Names for the classes of an output.
const std::vector<std::string>& labels_of(const ServedParts& parts, std::string_view output);

// Also models with sequences (sequence_model.h). Errors: those of make_instances (instances.h).
Result<std::shared_ptr<InferModel>> serve_model(ServedParts parts);

}  // namespace nereid::server
