// SPDX-License-Identifier: Apache-2.0
// docs/reference/metrics.md: what a server measures.
#include "gen_docs/page.h"
#include "server/metrics/family_row.h"
#include "server/metrics/metric_table.h"

namespace nereid::docs {
namespace {

std::string_view kind_name(server::metrics::MetricKind kind) {
  switch (kind) {
    case server::metrics::MetricKind::kCounter:
      return "counter";
    case server::metrics::MetricKind::kGauge:
      return "gauge";
    case server::metrics::MetricKind::kHistogram:
      return "histogram";
  }
  return "";
}

}  // namespace

std::string metrics_page() {
  std::string page = "# Metrics\n\nWhat `nereid serve` says at `/metrics`, in Prometheus' text form.\n\n" +
                     header({"metric", "kind", "unit", "labels", "meaning"});
  for (const server::metrics::MetricRow& r : server::metrics::metric_table())
    page += row({code(r.name), kind_name(r.kind), r.unit, r.labels, r.help});
  page +=
      "\n## Model repositories\n\nWith `--model-repository`, also on a port of their own. Those of models have the "
      "labels "
      "`model` and `version` and a configuration's `metric_tags`; summaries, histograms in milliseconds and what can "
      "be "
      "left out are a matter of `--metrics-config`.\n\n" +
      header({"metric", "kind", "meaning"});
  using namespace server::metrics;
  for (const auto& families :
       {inference_families(), latency_families(), cache_families(), machine_families(), gpu_families()})
    for (const FamilyRow& r : families) page += row({code(r.name), std::string(r.kind), std::string(r.help)});
  return page;
}

}  // namespace nereid::docs
