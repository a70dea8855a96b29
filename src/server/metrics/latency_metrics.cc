// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/latency_metrics.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "server/metrics/family_row.h"
#include "server/metrics/model_labels.h"
#include "server/metrics/registry.h"

namespace nereid::server::metrics {
namespace {

struct HistogramFamily {
  std::string_view name, help;
  LatencyPhase phase;
};

constexpr HistogramFamily kHistograms[] = {
    {"nereid_inference_request_duration_seconds", "from a request's arrival to its last response",
     LatencyPhase::kRequest},
    {"nereid_inference_queue_duration_seconds", "from a request's arrival to its execution", LatencyPhase::kQueue},
    {"nereid_inference_compute_input_duration_seconds", "of an execution, until its inputs are ready",
     LatencyPhase::kComputeInput},
    {"nereid_inference_compute_infer_duration_seconds", "of an execution, what the model took",
     LatencyPhase::kComputeInfer},
    {"nereid_inference_compute_output_duration_seconds", "of an execution, from the model's end to the last response",
     LatencyPhase::kComputeOutput},
    {"nereid_inference_first_response_seconds", "from a request's arrival to its first response", LatencyPhase::kFirst},
};

constexpr double kBounds[] = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                              0.1,    0.25,    0.5,    1,     2.5,    5,     10,   30,    60};
constexpr double kFirstBounds_ms[] = {100, 500, 2000, 5000};

constexpr std::string_view kFirstName = "nv_inference_first_response_histogram_ms";
constexpr std::string_view kFirstHelp = "Duration from request to first response in milliseconds";

struct SummaryFamily {
  std::string_view name, help;
  LatencyPhase phase;
};

constexpr SummaryFamily kSummaries[] = {
    {"nv_inference_request_summary_us",
     "Summary of inference request duration in microseconds (includes cached requests)", LatencyPhase::kRequest},
    {"nv_inference_queue_summary_us",
     "Summary of inference queuing duration in microseconds (includes cached requests)", LatencyPhase::kQueue},
    {"nv_inference_compute_input_summary_us",
     "Cumulative compute input duration in microseconds (does not include cached requests)",
     LatencyPhase::kComputeInput},
    {"nv_inference_compute_infer_summary_us",
     "Cumulative compute inference duration in microseconds (does not include cached requests)",
     LatencyPhase::kComputeInfer},
    {"nv_inference_compute_output_summary_us",
     "Cumulative inference compute output duration in microseconds (does not include cached requests)",
     LatencyPhase::kComputeOutput},
};

// Of models that answer from a cache.
constexpr SummaryFamily kCacheSummaries[] = {
    {"nv_cache_hit_summary_per_model", "Summary of cache hit duration per model, in microseconds",
     LatencyPhase::kCacheHit},
    {"nv_cache_miss_summary_per_model", "Summary of cache miss (insert+lookup) duration per model, in microseconds",
     LatencyPhase::kCacheMiss},
};

struct Row {
  std::string key, labels;
  InferStatistics statistics;
};

void append_head(std::string* out, std::string_view name, std::string_view help, std::string_view kind) {
  fmt::format_to(std::back_inserter(*out), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, kind);
}

// `unit_ns`: of the bounds and of the sum.
void append_histogram(std::string* out, std::string_view name, const std::string& labels, const LatencyCounts& counts,
                      std::span<const double> bounds, double unit_ns) {
  const auto to = std::back_inserter(*out);
  for (const double bound : bounds)
    fmt::format_to(to, "{}_bucket{{{},le=\"{}\"}} {}\n", name, labels, number_text(bound),
                   counts.up_to(static_cast<int64_t>(bound * unit_ns + 0.5)));
  fmt::format_to(to, "{}_bucket{{{},le=\"+Inf\"}} {}\n", name, labels, counts.count);
  fmt::format_to(to, "{}_sum{{{}}} {}\n{}_count{{{}}} {}\n", name, labels,
                 number_text(static_cast<double>(counts.sum_ns) / unit_ns), name, labels, counts.count);
}

void append_summary(std::string* out, std::string_view name, const std::string& labels, const LatencyCounts& all,
                    const LatencyCounts& recent, std::span<const double> quantiles) {
  const auto to = std::back_inserter(*out);
  fmt::format_to(to, "{}_count{{{}}} {}\n{}_sum{{{}}} {}\n", name, labels, all.count, name, labels, all.sum_ns / 1000);
  for (const double quantile : quantiles)
    fmt::format_to(to, "{}{{{},quantile=\"{}\"}} {}\n", name, labels, number_text(quantile),
                   number_text(recent.quantile_ns(quantile) / 1000));
}

}  // namespace

std::vector<FamilyRow> latency_families() {
  std::vector<FamilyRow> out;
  for (const HistogramFamily& family : kHistograms) out.push_back({family.name, "histogram", family.help});
  for (const SummaryFamily& family : kSummaries) out.push_back({family.name, "summary", family.help});
  for (const SummaryFamily& family : kCacheSummaries) out.push_back({family.name, "summary", family.help});
  out.push_back({kFirstName, "histogram", kFirstHelp});
  return out;
}

std::string window_key(const InferModel& model) {
  return model.config().name + "\n" + std::to_string(model.version());
}

std::string latency_metrics_text(const std::vector<std::shared_ptr<InferModel>>& models, const MetricsConfig& config,
                                 const LatencyWindows& windows, int64_t now_ns) {
  std::string out;
  if (models.empty()) return out;
  std::vector<Row> rows;
  for (const auto& model : models) rows.push_back({window_key(*model), model_labels(*model), model->statistics()});
  if (config.summaries)
    for (const SummaryFamily& family : kSummaries) {
      append_head(&out, family.name, family.help, "summary");
      for (const Row& row : rows) {
        // Those of a cache's answers would be mixed with those of the model's.
        if (family.phase == LatencyPhase::kRequest && row.statistics.has_cache) continue;
        const LatencyCounts& all = row.statistics.latency(family.phase);
        append_summary(&out, family.name, row.labels, all, windows.recent(row.key, family.phase, all, now_ns),
                       config.quantiles);
      }
    }
  if (config.summaries)
    for (const SummaryFamily& family : kCacheSummaries) {
      bool has_head = false;
      for (const Row& row : rows) {
        if (!row.statistics.has_cache) continue;
        if (!std::exchange(has_head, true)) append_head(&out, family.name, family.help, "summary");
        const LatencyCounts& all = row.statistics.latency(family.phase);
        append_summary(&out, family.name, row.labels, all, windows.recent(row.key, family.phase, all, now_ns),
                       config.quantiles);
      }
    }
  if (config.histograms) {
    append_head(&out, kFirstName, kFirstHelp, "histogram");
    for (const Row& row : rows)
      append_histogram(&out, kFirstName, row.labels, row.statistics.latency(LatencyPhase::kFirst), kFirstBounds_ms,
                       1e6);
  }
  for (const HistogramFamily& family : kHistograms) {
    append_head(&out, family.name, family.help, "histogram");
    for (const Row& row : rows)
      append_histogram(&out, family.name, row.labels, row.statistics.latency(family.phase), kBounds, 1e9);
  }
  return out;
}

}  // namespace nereid::server::metrics
