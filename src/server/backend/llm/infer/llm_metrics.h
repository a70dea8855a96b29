// SPDX-License-Identifier: Apache-2.0
// What language models of a repository hold and do at the moment, in the families that boards made for TensorRT-LLM's
// backend read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "llm/run/executor.h"

namespace nereid::server {

struct LlmFigures {
  std::string model;
  int64_t version = 1;
  llm::ExecutorStats stats;
  int64_t page_tokens = 16, max_sequences = 64;
};

// Prometheus' text format; "" where there are no models.
std::string llm_metrics_text(const std::vector<LlmFigures>& models);

}  // namespace nereid::server
