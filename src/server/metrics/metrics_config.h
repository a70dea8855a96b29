// SPDX-License-Identifier: Apache-2.0
// Which of the families that dashboards made for Triton read are there, as --metrics-config says it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace nereid::server::metrics {

struct MetricsConfig {
  bool counters = true;     // counter_latencies: sums of durations
  bool histograms = false;  // histogram_latencies: of the first response
  bool summaries = false;   // summary_latencies
  std::vector<double> quantiles = {0.5, 0.9, 0.95, 0.99, 0.999};
  bool has_cpu = true;  // nv_cpu_*
};

// "summary_latencies=true", "summary_quantiles=0.5:0.05,0.9:0.01" (an error behind ':' is taken and has no use: ours is
// that of latency_counts.h). kInvalidArgument: what is not understood, and what there is.
Result<MetricsConfig> parse_metrics_config(std::span<const std::string> texts);

}  // namespace nereid::server::metrics
