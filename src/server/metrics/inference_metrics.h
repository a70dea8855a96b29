// SPDX-License-Identifier: Apache-2.0
// The nv_inference_* families, as dashboards and rules made for Triton read them: one row a family, values from the
// models that are loaded at the moment. Names, help and units (microseconds) are theirs, not those of metric_table.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/core/infer_model.h"

namespace nereid::server::metrics {

// Prometheus' text format.
std::string inference_metrics_text(const std::vector<std::shared_ptr<InferModel>>& models, bool has_durations = true);

}  // namespace nereid::server::metrics
