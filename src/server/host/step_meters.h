// SPDX-License-Identifier: Apache-2.0
// What the steps of a model's executor are measured by.
#pragma once

#include <string>

#include "llm/run/iteration_stats.h"
#include "server/metrics/registry.h"

namespace nereid::server {

// The registry outlives it.
class StepMeters {
 public:
  StepMeters(metrics::Registry& registry, const std::string& model);
  void observe(const llm::IterationStats& step);

 private:
  metrics::Histogram &seconds_, &model_seconds_, &prompt_tokens_, &answer_tokens_, &sequences_;
  metrics::Counter &drafts_, &accepted_;
};

}  // namespace nereid::server
