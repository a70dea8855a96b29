// SPDX-License-Identifier: Apache-2.0
// The metrics of a repository's models and of the machine, with a thread that samples what cannot be asked at any time.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "server/core/cache_figures.h"
#include "server/core/infer_model.h"
#include "server/metrics/latency_windows.h"
#include "server/metrics/machine_metrics.h"
#include "server/metrics/metrics_config.h"

namespace nereid::server {

struct ModelMetricsOptions {
  metrics::MetricsConfig config;
  int64_t interval_ms = 2000;                                        // between two samples
  std::function<std::vector<std::shared_ptr<InferModel>>()> models;  // that are ready
  std::function<std::optional<CacheFigures>()> cache = [] { return std::nullopt; };
};

// Thread-safe.
class ModelMetrics {
 public:
  explicit ModelMetrics(ModelMetricsOptions options);
  ~ModelMetrics();
  // Prometheus' text format.
  std::string text() const;
  // For the last minute, of a model's phase: quantiles for people.
  LatencyCounts recent(const InferModel& model, LatencyPhase phase, const LatencyCounts& counts) const;

 private:
  void work();
  void sample();

  const ModelMetricsOptions options_;
  mutable std::mutex mutex_;  // of what is sampled
  metrics::MachineMeter machine_;
  metrics::LatencyWindows windows_;
  std::condition_variable changed_;
  bool is_ended_ = false;
  std::thread thread_;  // the last: it uses the others
};

}  // namespace nereid::server
