// SPDX-License-Identifier: Apache-2.0
// How long requests of models took: histograms that can be added up over replicas (nereid_inference_*_seconds), and
// what dashboards made for Triton read of it (nv_inference_*_summary_us, nv_inference_first_response_histogram_ms).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/core/infer_model.h"
#include "server/metrics/latency_windows.h"
#include "server/metrics/metrics_config.h"

namespace nereid::server::metrics {

// By which a LatencyWindows knows a model.
std::string window_key(const InferModel& model);
// Prometheus' text format.
std::string latency_metrics_text(const std::vector<std::shared_ptr<InferModel>>& models, const MetricsConfig& config,
                                 const LatencyWindows& windows, int64_t now_ns);

}  // namespace nereid::server::metrics
