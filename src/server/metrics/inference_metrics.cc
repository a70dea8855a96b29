// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/inference_metrics.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "server/metrics/family_row.h"
#include "server/metrics/model_labels.h"
#include "server/metrics/registry.h"

namespace nereid::server::metrics {
namespace {

struct Family {
  std::string_view name, kind, help;
  double (*value)(const InferStatistics& statistics);  // nullptr: a row for each reason of failures
};

double us(const DurationSum& sum) {
  return static_cast<double>(sum.ns / 1000);
}

constexpr Family kFamilies[] = {
    {"nv_inference_request_success", "counter", "Number of successful inference requests, all batch sizes",
     [](const InferStatistics& s) { return static_cast<double>(s.success.count); }},
    {"nv_inference_request_failure", "counter", "Number of failed inference requests, all batch sizes", nullptr},
    {"nv_inference_count", "counter", "Number of inferences performed (does not include cached requests)",
     [](const InferStatistics& s) { return static_cast<double>(s.inferences); }},
    {"nv_inference_exec_count", "counter", "Number of model executions performed (does not include cached requests)",
     [](const InferStatistics& s) { return static_cast<double>(s.executions); }},
    {"nv_inference_request_duration_us", "counter",
     "Cumulative inference request duration in microseconds (includes cached requests)",
     [](const InferStatistics& s) { return us(s.success); }},
    {"nv_inference_queue_duration_us", "counter",
     "Cumulative inference queuing duration in microseconds (includes cached requests)",
     [](const InferStatistics& s) { return us(s.queue); }},
    {"nv_inference_compute_input_duration_us", "counter",
     "Cumulative compute input duration in microseconds (does not include cached requests)",
     [](const InferStatistics& s) { return us(s.compute.input); }},
    {"nv_inference_compute_infer_duration_us", "counter",
     "Cumulative compute inference duration in microseconds (does not include cached requests)",
     [](const InferStatistics& s) { return us(s.compute.infer); }},
    {"nv_inference_compute_output_duration_us", "counter",
     "Cumulative inference compute output duration in microseconds (does not include cached requests)",
     [](const InferStatistics& s) { return us(s.compute.output); }},
    {"nv_inference_pending_request_count", "gauge",
     "Instantaneous number of pending requests awaiting execution per-model.",
     [](const InferStatistics& s) { return static_cast<double>(s.pending); }},
    {"nv_model_load_duration_secs", "gauge", "Model load time in seconds",
     [](const InferStatistics& s) { return s.load_s; }},
};

// In the order of their names.
struct Reason {
  std::string_view name;
  InferFailure failure;
};
constexpr Reason kReasons[] = {{"BACKEND", InferFailure::kBackend},
                               {"CANCELED", InferFailure::kCancelled},
                               {"OTHER", InferFailure::kOther},
                               {"REJECTED", InferFailure::kRejected}};

}  // namespace

std::vector<FamilyRow> inference_families() {
  std::vector<FamilyRow> out;
  for (const Family& family : kFamilies) out.push_back({family.name, family.kind, family.help});
  return out;
}

std::string inference_metrics_text(const std::vector<std::shared_ptr<InferModel>>& models, bool has_durations) {
  if (models.empty()) return {};
  std::vector<InferStatistics> statistics;
  for (const auto& model : models) statistics.push_back(model->statistics());
  std::string out;
  const auto to = std::back_inserter(out);
  for (const Family& family : kFamilies) {
    if (!has_durations && family.name.ends_with("_duration_us")) continue;
    fmt::format_to(to, "# HELP {} {}\n# TYPE {} {}\n", family.name, family.help, family.name, family.kind);
    for (size_t i = 0; i < models.size(); ++i) {
      if (family.value != nullptr) {
        fmt::format_to(to, "{}{{{}}} {}\n", family.name, model_labels(*models[i]),
                       number_text(family.value(statistics[i])));
        continue;
      }
      for (const Reason& reason : kReasons)
        fmt::format_to(to, "{}{{{}}} {}\n", family.name, model_labels(*models[i], reason.name),
                       statistics[i].failures[static_cast<size_t>(reason.failure)]);
    }
  }
  return out;
}

}  // namespace nereid::server::metrics
