// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/latency_windows.h"

namespace nereid::server::metrics {

void LatencyWindows::sample(const std::string& model, const Counts& counts, int64_t now_ns) {
  Known& known = models_[model];
  known.seen_ns = now_ns;
  std::deque<Sample>& samples = known.samples;
  // A model that was loaded anew counts from 0 again.
  if (!samples.empty() && samples.back().counts[0].count > counts[0].count) samples.clear();
  const auto is_same = [&](const Sample& sample) {
    for (size_t i = 0; i < counts.size(); ++i)
      if (counts[i].count != sample.counts[i].count) return false;
    return true;
  };
  if (samples.empty() || (now_ns - samples.back().at_ns >= kWindowNs / 10 && !is_same(samples.back())))
    samples.push_back({now_ns, counts});
  while (samples.size() > 1 && samples[1].at_ns <= now_ns - kWindowNs) samples.pop_front();
}

void LatencyWindows::forget(int64_t now_ns) {
  std::erase_if(models_, [&](const auto& one) { return one.second.seen_ns < now_ns - kWindowNs; });
}

LatencyCounts LatencyWindows::recent(const std::string& model, LatencyPhase phase, const LatencyCounts& counts,
                                     int64_t now_ns) const {
  const auto found = models_.find(model);
  if (found == models_.end()) return counts;
  const Sample* before = nullptr;  // the youngest that is a window old
  for (const Sample& sample : found->second.samples)
    if (sample.at_ns <= now_ns - kWindowNs) before = &sample;
  if (before == nullptr) return counts;
  const LatencyCounts& then = before->counts[static_cast<size_t>(phase)];
  return then.count > counts.count ? counts : counts.since(then);
}

}  // namespace nereid::server::metrics
