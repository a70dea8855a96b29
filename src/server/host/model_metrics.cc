// SPDX-License-Identifier: Apache-2.0
#include "server/host/model_metrics.h"

#include <chrono>

#include "base/clock.h"
#include "server/metrics/cache_metrics.h"
#include "server/metrics/inference_metrics.h"
#include "server/metrics/latency_metrics.h"

namespace nereid::server {

ModelMetrics::ModelMetrics(ModelMetricsOptions options) : options_(std::move(options)), thread_([this] { work(); }) {}

ModelMetrics::~ModelMetrics() {
  {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::string ModelMetrics::text() const {
  const auto models = options_.models();
  std::string out = metrics::inference_metrics_text(models, options_.config.counters) +
                    metrics::cache_metrics_text(options_.cache(), models);
  const std::lock_guard lock(mutex_);
  return out + metrics::latency_metrics_text(models, options_.config, windows_, now_ns()) +
         machine_.text(options_.config.has_cpu);
}

LatencyCounts ModelMetrics::recent(const InferModel& model, LatencyPhase phase, const LatencyCounts& counts) const {
  const std::lock_guard lock(mutex_);
  return windows_.recent(metrics::window_key(model), phase, counts, now_ns());
}

void ModelMetrics::sample() {
  const auto models = options_.models();
  const int64_t now = now_ns();
  const std::lock_guard lock(mutex_);
  machine_.sample();
  for (const auto& model : models) windows_.sample(metrics::window_key(*model), model->statistics().latencies, now);
  windows_.forget(now);
}

void ModelMetrics::work() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, std::chrono::milliseconds(options_.interval_ms), [this] { return is_ended_; })) {
    lock.unlock();
    sample();
    lock.lock();
  }
}

}  // namespace nereid::server
