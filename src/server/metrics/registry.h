// SPDX-License-Identifier: Apache-2.0
// The numbers behind metric_table: counters and histograms that cost an atomic addition, gauges that are asked.
//
//   Counter& done = registry.counter(Metric::kRequests, {"smollm2", "stop"});   // find once, keep
//   done.add(1);
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/metrics/metric_table.h"

namespace nereid::server::metrics {

// Values of a row's labels, in its order.
using LabelValues = std::vector<std::string>;

class Counter {
 public:
  void add(int64_t n) { value_.fetch_add(n, std::memory_order_relaxed); }
  int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

class Histogram {
 public:
  explicit Histogram(std::span<const double> bounds);
  void observe(double value);

  struct Snapshot {
    std::vector<int64_t> cumulative;  // one a bound, then all
    double sum = 0;
  };
  Snapshot snapshot() const;

 private:
  const std::span<const double> bounds_;
  std::unique_ptr<std::atomic<int64_t>[]> counts_;  // one a bound, then what is above
  std::atomic<double> sum_{0};
};

// Thread-safe. References stay good for as long as the registry lives. A label is something of which there are few:
// an endpoint's pattern, never a path.
class Registry {
 public:
  // The row must be of that kind and have as many labels (checked).
  Counter& counter(Metric metric, const LabelValues& labels = {});
  Histogram& histogram(Metric metric, const LabelValues& labels = {});
  // A gauge, or a counter that somebody else keeps: asked whenever the text is made, on that thread.
  void ask(Metric metric, const LabelValues& labels, std::function<double()> value);
  // Forgets what is asked and has `value` as the label `label`: before what it asks goes away.
  void forget(std::string_view label, std::string_view value);

  // Prometheus' text format 0.0.4; rows without a value are left out.
  std::string text() const;

 private:
  struct Family {
    std::map<LabelValues, std::unique_ptr<Counter>> counters;
    std::map<LabelValues, std::unique_ptr<Histogram>> histograms;
    std::map<LabelValues, std::function<double()>> asked;
  };
  mutable std::mutex mutex_;
  Family families_[static_cast<size_t>(Metric::kCount)];
};

constexpr std::string_view kTextType = "text/plain; version=0.0.4; charset=utf-8";

// The pieces of the format, for tests.
std::string escape_help(std::string_view text);
std::string escape_label(std::string_view text);
std::string number_text(double value);  // "+Inf", "NaN", "0.25", "12"

}  // namespace nereid::server::metrics
