// SPDX-License-Identifier: Apache-2.0
#include "compile/bench_network.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/clock.h"
#include "base/interrupt.h"

namespace nereid::compile {
namespace {

constexpr double kNsPerMs = 1e6;
constexpr int64_t kTickNs = 100'000'000;
// More runs than this are not kept apart: a network of nothing would fill the memory.
constexpr size_t kMostRuns = size_t{1} << 22;

Status set_inputs(const NetworkSession& session, runtime::NetContext& context) {
  for (size_t i = 0; i < session.network.inputs.size(); ++i) {
    const auto it = session.values.find(session.network.inputs[i].name);
    NEREID_CHECK(it != session.values.end());
    NEREID_RETURN_IF_ERROR(context.set_input(i, it->second));
  }
  return Status::ok();
}

double process_cpu_ms() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / kNsPerMs;
}

// Calls `tick` and looks for Ctrl-C now and then.
class Pulse {
 public:
  explicit Pulse(const std::function<void()>& tick) : tick_(tick) {}
  Status beat(int64_t now) {
    if (now - last_ns_ < kTickNs) return Status::ok();
    last_ns_ = now;
    if (tick_) tick_();
    return check_interrupted();
  }

 private:
  const std::function<void()>& tick_;
  int64_t last_ns_ = now_ns();
};

}  // namespace

Result<TimedRuns> time_runs(const NetworkSession& session, runtime::NetContext& context, const TimingOptions& options,
                            const std::function<void()>& tick) {
  TimedRuns out;
  Pulse pulse(tick);
  SystemClock clock;
  int64_t start = now_ns();
  NEREID_RETURN_IF_ERROR(set_inputs(session, context));
  NEREID_RETURN_IF_ERROR(context.run());
  int64_t now = now_ns();
  out.first_ms = static_cast<double>(now - start) / kNsPerMs;
  const int64_t warm_until = now + static_cast<int64_t>(options.warmup_ms * kNsPerMs);
  while (now < warm_until) {
    NEREID_RETURN_IF_ERROR(context.run());
    now = now_ns();
    ++out.warmup_runs;
    NEREID_RETURN_IF_ERROR(pulse.beat(now));
  }

  const double cpu_ms = process_cpu_ms();
  start = now_ns();
  now = start;
  const int64_t until = start + static_cast<int64_t>(options.duration_s * 1e9);
  out.runs.reserve(1024);
  while ((now < until || static_cast<int64_t>(out.runs.size()) < options.iterations) && out.runs.size() < kMostRuns) {
    RunTime run{.start_ns = now_ns() - start};
    NEREID_RETURN_IF_ERROR(set_inputs(session, context));
    run.inputs_ns = now_ns() - start;
    NEREID_RETURN_IF_ERROR(context.run());
    now = now_ns();
    run.end_ns = now - start;
    out.runs.push_back(run);
    if (options.idle_ms > 0) clock.sleep_until(now + static_cast<int64_t>(options.idle_ms * kNsPerMs));
    NEREID_RETURN_IF_ERROR(pulse.beat(now));
  }
  out.wall_ms = static_cast<double>(now_ns() - start) / kNsPerMs;
  out.cpu_ms = process_cpu_ms() - cpu_ms;
  return out;
}

double LayerTime::total_ms() const {
  return std::accumulate(ms.begin(), ms.end(), 0.0);
}

Result<std::vector<LayerTime>> profile_runs(runtime::NetContext& context, int64_t runs) {
  context.set_profiling(true);
  std::vector<LayerTime> layers;
  std::vector<int64_t> before;
  LayerTime rest{.label = "between the layers", .kernel = "", .ms = {}};
  for (const runtime::NetProfile& step : context.profile()) before.push_back(step.total_ns);
  for (int64_t i = 0; i < runs; ++i) {
    NEREID_RETURN_IF_ERROR(check_interrupted());
    const int64_t start = now_ns();
    NEREID_RETURN_IF_ERROR(context.run());
    const int64_t wall_ns = now_ns() - start;
    const std::vector<runtime::NetProfile> steps = context.profile();
    // Steps of a branch that was not taken before come in later: then the counting begins again.
    if (layers.size() != steps.size()) {
      layers.clear();
      rest.ms.clear();
      for (const runtime::NetProfile& step : steps) layers.push_back({step.label, step.kernel, {}});
      if (before.size() != steps.size()) before.assign(steps.size(), 0);
    }
    int64_t in_steps = 0;
    for (size_t s = 0; s < steps.size(); ++s) {
      const int64_t ns = steps[s].total_ns - before[s];
      before[s] = steps[s].total_ns;
      in_steps += ns;
      layers[s].ms.push_back(static_cast<double>(ns) / kNsPerMs);
    }
    rest.ms.push_back(std::max(0.0, static_cast<double>(wall_ns - in_steps) / kNsPerMs));
  }
  context.set_profiling(false);
  layers.push_back(std::move(rest));
  return layers;
}

double percentile(std::vector<double>& values, double percent) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const double rank = std::ceil(percent / 100 * static_cast<double>(values.size()));
  const auto index = static_cast<size_t>(std::clamp(rank - 1, 0.0, static_cast<double>(values.size() - 1)));
  return values[index];
}

double median(std::vector<double>& values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Latencies summarize(std::vector<double> values) {
  if (values.empty()) return {};
  Latencies out{.min = percentile(values, 0), .median = median(values)};
  out.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  out.p90 = percentile(values, 90);
  out.p95 = percentile(values, 95);
  out.p99 = percentile(values, 99);
  out.max = values.back();
  return out;
}

Result<NetworkBench> bench_network(const NetworkSession& session, ThreadPool& pool, const BenchOptions& options) {
  NEREID_TRY(const std::unique_ptr<runtime::NetContext> context, session.context(pool));
  NEREID_TRY(const TimedRuns timed, time_runs(session, *context, options.timing, options.tick));
  NetworkBench out{.open_ms = session.open_ms, .first_ms = timed.first_ms};
  out.latencies_ms.reserve(timed.runs.size());
  for (const RunTime& run : timed.runs)
    out.latencies_ms.push_back(static_cast<double>(run.end_ns - run.start_ns) / kNsPerMs);
  out.latency = summarize(out.latencies_ms);
  out.throughput = timed.wall_ms > 0 ? 1e3 * static_cast<double>(timed.runs.size()) / timed.wall_ms : 0;
  out.cpu_ms = timed.cpu_ms / static_cast<double>(std::max<size_t>(timed.runs.size(), 1));
  out.notes = context->notes();
  out.plan_bytes = context->memory_bytes();
  out.packed_bytes = session.network.network->packed_bytes();
  if (options.profiled_runs > 0) {
    NEREID_TRY(out.layers, profile_runs(*context, options.profiled_runs));
  }
  return out;
}

}  // namespace nereid::compile
