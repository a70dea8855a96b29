// SPDX-License-Identifier: Apache-2.0
#include "server/core/model_meter.h"

#include <chrono>

namespace nereid::server {
namespace {

uint64_t unix_ms() {
  using std::chrono::system_clock;
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(system_clock::now().time_since_epoch()).count());
}

void add_spans(ComputeSums* sums, const ModelMeter::Spans& spans, int64_t times) {
  for (int64_t i = 0; i < times; ++i) {
    sums->input.add(spans.input_end_ns - spans.begin_ns);
    sums->infer.add(spans.infer_end_ns - spans.input_end_ns);
    sums->output.add(spans.end_ns - spans.infer_end_ns);
  }
}

}  // namespace

void ModelMeter::add_success(int64_t items, int64_t arrival_ns, int64_t begin_ns, int64_t end_ns, int64_t first_ns) {
  const uint64_t now_ms = unix_ms();
  const std::lock_guard lock(mutex_);
  sums_.last_inference_ms = now_ms;
  sums_.inferences += static_cast<uint64_t>(items);
  sums_.success.add(end_ns - arrival_ns);
  sums_.queue.add(begin_ns - arrival_ns);
  sums_.latency(LatencyPhase::kRequest).add(end_ns - arrival_ns);
  sums_.latency(LatencyPhase::kQueue).add(begin_ns - arrival_ns);
  sums_.latency(LatencyPhase::kFirst).add((first_ns == 0 ? end_ns : first_ns) - arrival_ns);
}

void ModelMeter::add_failure(InferFailure why, int64_t arrival_ns, int64_t end_ns) {
  const std::lock_guard lock(mutex_);
  ++sums_.failures[static_cast<size_t>(why)];
  sums_.fail.add(end_ns - arrival_ns);
}

void ModelMeter::add_execution(int64_t items, int64_t requests, const Spans& spans) {
  const std::lock_guard lock(mutex_);
  ++sums_.executions;
  add_spans(&sums_.compute, spans, requests);
  add_spans(&sums_.batches[items], spans, 1);
  const auto times = static_cast<uint64_t>(requests);
  sums_.latency(LatencyPhase::kComputeInput).add(spans.input_end_ns - spans.begin_ns, times);
  sums_.latency(LatencyPhase::kComputeInfer).add(spans.infer_end_ns - spans.input_end_ns, times);
  sums_.latency(LatencyPhase::kComputeOutput).add(spans.end_ns - spans.infer_end_ns, times);
}

void ModelMeter::add_cache_hit(const Lookup& lookup) {
  const uint64_t now_ms = unix_ms();
  const std::lock_guard lock(mutex_);
  sums_.last_inference_ms = now_ms;
  sums_.success.add(lookup.end_ns - lookup.arrival_ns);
  sums_.queue.add(lookup.begin_ns - lookup.arrival_ns);
  sums_.cache_hit.add(lookup.end_ns - lookup.begin_ns);
  sums_.latency(LatencyPhase::kRequest).add(lookup.end_ns - lookup.arrival_ns);
  sums_.latency(LatencyPhase::kFirst).add(lookup.end_ns - lookup.arrival_ns);
  sums_.latency(LatencyPhase::kQueue).add(lookup.begin_ns - lookup.arrival_ns);
  sums_.latency(LatencyPhase::kCacheHit).add(lookup.end_ns - lookup.begin_ns);
}

void ModelMeter::add_cache_miss(int64_t by_ns) {
  const std::lock_guard lock(mutex_);
  sums_.cache_miss.add(by_ns);
  sums_.latency(LatencyPhase::kCacheMiss).add(by_ns);
}

void ModelMeter::set_load_s(double seconds) {
  const std::lock_guard lock(mutex_);
  sums_.load_s = seconds;
}

InferStatistics ModelMeter::read() const {
  const std::lock_guard lock(mutex_);
  return sums_;
}

}  // namespace nereid::server
