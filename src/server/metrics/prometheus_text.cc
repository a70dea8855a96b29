// SPDX-License-Identifier: Apache-2.0
// Prometheus' text format, version 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats/
#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "server/metrics/registry.h"

namespace nereid::server::metrics {
namespace {

std::string_view kind_name(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return "counter";
    case MetricKind::kGauge:
      return "gauge";
    case MetricKind::kHistogram:
      return "histogram";
  }
  return "untyped";
}

std::string escape(std::string_view text, bool quotes) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
  return out;
}

// {a="x",b="y"}; `more` is a further pair, ready.
std::string label_text(std::string_view names, const LabelValues& values, std::string_view more = {}) {
  std::string out;
  for (const std::string& value : values) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    out += fmt::format("{}{}=\"{}\"", out.empty() ? "" : ",", name, escape(value, true));
  }
  if (!more.empty()) out += fmt::format("{}{}", out.empty() ? "" : ",", more);
  return out.empty() ? out : "{" + out + "}";
}

void append_histogram(std::string* out, const MetricRow& row, const LabelValues& labels, const Histogram& histogram) {
  const Histogram::Snapshot s = histogram.snapshot();
  const auto to = std::back_inserter(*out);
  for (size_t i = 0; i < s.cumulative.size(); ++i) {
    const std::string bound = i < row.buckets.size() ? number_text(row.buckets[i]) : "+Inf";
    fmt::format_to(to, "{}_bucket{} {}\n", row.name, label_text(row.labels, labels, fmt::format("le=\"{}\"", bound)),
                   s.cumulative[i]);
  }
  fmt::format_to(to, "{}_sum{} {}\n", row.name, label_text(row.labels, labels), number_text(s.sum));
  fmt::format_to(to, "{}_count{} {}\n", row.name, label_text(row.labels, labels), s.cumulative.back());
}

}  // namespace

std::string escape_help(std::string_view text) {
  return escape(text, false);
}
std::string escape_label(std::string_view text) {
  return escape(text, true);
}

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

std::string Registry::text() const {
  std::string out;
  const auto to = std::back_inserter(out);
  const std::lock_guard lock(mutex_);
  for (const MetricRow& row : metric_table()) {
    const Family& family = families_[static_cast<size_t>(row.id)];
    if (family.counters.empty() && family.histograms.empty() && family.asked.empty()) continue;
    fmt::format_to(to, "# HELP {} {}\n# TYPE {} {}\n", row.name, escape_help(row.help), row.name, kind_name(row.kind));
    for (const auto& [labels, counter] : family.counters)
      fmt::format_to(to, "{}{} {}\n", row.name, label_text(row.labels, labels), counter->value());
    for (const auto& [labels, ask] : family.asked)
      fmt::format_to(to, "{}{} {}\n", row.name, label_text(row.labels, labels), number_text(ask()));
    for (const auto& [labels, histogram] : family.histograms) append_histogram(&out, row, labels, *histogram);
  }
  return out;
}

}  // namespace nereid::server::metrics
