// SPDX-License-Identifier: Apache-2.0
// What trtexec prints and exports: report lines and JSON forms that scripts read.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "cli/compat/trtexec_options.h"
#include "compile/bench_network.h"
#include "compile/layer_info.h"

namespace nereid::cli {

// A run's phases in milliseconds: setting the inputs (enqueue) and computing. Nothing is copied to a device and back.
struct TrtexecTimes {
  double start_ms = 0, enqueue_ms = 0, compute_ms = 0;
  double latency_ms() const { return compute_ms; }
};

std::vector<TrtexecTimes> trtexec_times(const compile::TimedRuns& runs);

// Lines without the log's prefix.
std::vector<std::string> trace_lines(const std::vector<TrtexecTimes>& times, int64_t average_runs);
std::vector<std::string> summary_lines(const std::vector<TrtexecTimes>& times, double wall_ms,
                                       const std::vector<double>& percentiles);
std::vector<std::string> profile_lines(const std::vector<compile::LayerTime>& layers);

nlohmann::ordered_json times_json(const std::vector<TrtexecTimes>& times);
nlohmann::ordered_json profile_json(const std::vector<compile::LayerTime>& layers);
nlohmann::ordered_json layers_json(const std::vector<compile::LayerInfo>& layers, const compile::OpenedNetwork& network,
                                   bool detailed);
// Texts and other things that are no numbers are given as JSON has them.
nlohmann::ordered_json outputs_json(const compile::OpenedNetwork& network, const runtime::NetContext& context);

}  // namespace nereid::cli
