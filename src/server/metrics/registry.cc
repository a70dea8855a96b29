// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/registry.h"

#include <algorithm>

#include "base/check.h"

namespace nereid::server::metrics {
namespace {

size_t count_labels(std::string_view names) {
  return names.empty() ? 0 : static_cast<size_t>(std::count(names.begin(), names.end(), ',')) + 1;
}

void check_row(Metric metric, const LabelValues& labels, MetricKind kind, MetricKind or_kind) {
  const MetricRow& row = row_of(metric);
  NEREID_CHECK(row.kind == kind || row.kind == or_kind);
  NEREID_CHECK(count_labels(row.labels) == labels.size());
}

}  // namespace

Histogram::Histogram(std::span<const double> bounds)
    : bounds_(bounds), counts_(std::make_unique<std::atomic<int64_t>[]>(bounds.size() + 1)) {}

void Histogram::observe(double value) {
  const auto bucket = static_cast<size_t>(std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin());
  counts_[bucket].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

Histogram::Snapshot Histogram::snapshot() const {
  Snapshot s{.cumulative = std::vector<int64_t>(bounds_.size() + 1), .sum = sum_.load(std::memory_order_relaxed)};
  int64_t all = 0;
  for (size_t i = 0; i < s.cumulative.size(); ++i) s.cumulative[i] = all += counts_[i].load(std::memory_order_relaxed);
  return s;
}

Counter& Registry::counter(Metric metric, const LabelValues& labels) {
  check_row(metric, labels, MetricKind::kCounter, MetricKind::kCounter);
  const std::lock_guard lock(mutex_);
  auto& slot = families_[static_cast<size_t>(metric)].counters[labels];
  if (slot == nullptr) slot = std::make_unique<Counter>();
  return *slot;
}

Histogram& Registry::histogram(Metric metric, const LabelValues& labels) {
  check_row(metric, labels, MetricKind::kHistogram, MetricKind::kHistogram);
  const std::lock_guard lock(mutex_);
  auto& slot = families_[static_cast<size_t>(metric)].histograms[labels];
  if (slot == nullptr) slot = std::make_unique<Histogram>(row_of(metric).buckets);
  return *slot;
}

void Registry::ask(Metric metric, const LabelValues& labels, std::function<double()> value) {
  check_row(metric, labels, MetricKind::kGauge, MetricKind::kCounter);
  const std::lock_guard lock(mutex_);
  families_[static_cast<size_t>(metric)].asked[labels] = std::move(value);
}

void Registry::forget(std::string_view label, std::string_view value) {
  const std::lock_guard lock(mutex_);
  for (const MetricRow& row : metric_table()) {
    if (!row.labels.starts_with(label)) continue;
    std::erase_if(families_[static_cast<size_t>(row.id)].asked,
                  [&](const auto& one) { return !one.first.empty() && one.first[0] == value; });
  }
}

}  // namespace nereid::server::metrics
