// SPDX-License-Identifier: Apache-2.0
// The nv_cache_* families: the cache of responses, and of each model that answers from it. Times in microseconds.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/core/cache_figures.h"
#include "server/core/infer_model.h"

namespace nereid::server::metrics {

// Prometheus' text format. No figures: the cache does not count for itself, or there is none.
std::string cache_metrics_text(const std::optional<CacheFigures>& figures,
                               const std::vector<std::shared_ptr<InferModel>>& models);

}  // namespace nereid::server::metrics
