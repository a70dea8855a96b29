// SPDX-License-Identifier: Apache-2.0
// docs/reference/metrics.md: what a server measures.
#include "gen_docs/page.h"
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
  return page;
}

}  // namespace nereid::docs
