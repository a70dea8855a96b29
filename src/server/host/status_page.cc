// SPDX-License-Identifier: Apache-2.0
#include "server/host/status_page.h"

#include <cmath>
#include <ctime>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/json.h"

namespace nereid::server {
namespace {

void put(std::string* page, std::string_view mark, std::string_view part) {
  const size_t at = page->find(mark);
  NEREID_CHECK(at != std::string::npos);
  page->replace(at, mark.size(), part);
}

std::string page_text() {
  std::string page(kStatusPageParts.html);
  // The later mark first, so that what was put in is not looked at.
  put(&page, "/*script*/", kStatusPageParts.script);
  put(&page, "/*style*/", kStatusPageParts.style);
  return page;
}

net::Response page() {
  static const std::string text = page_text();
  net::Response response{.status = 200, .headers = {{"Content-Type", "text/html; charset=utf-8"}}, .body = text};
  response.headers.set("Cache-Control", "no-cache");
  response.headers.set("Content-Security-Policy",
                       "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
                       "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  response.headers.set("X-Content-Type-Options", "nosniff");
  return response;
}

// Milliseconds; null where nothing was counted.
Json milliseconds(const LatencyCounts& counts, double q) {
  const double ns = counts.quantile_ns(q);
  return std::isnan(ns) ? Json() : Json(std::round(ns / 1000) / 1000);
}

Json figures(const InferModel& model, const ModelMetrics& metrics) {
  const InferStatistics s = model.statistics();
  const auto recent = [&](LatencyPhase phase) { return metrics.recent(model, phase, s.latency(phase)); };
  const LatencyCounts requests = recent(LatencyPhase::kRequest);
  uint64_t failures = 0;
  for (const uint64_t count : s.failures) failures += count;
  return {{"requests", s.success.count},
          {"failures", failures},
          {"inferences", s.inferences},
          {"executions", s.executions},
          {"pending", s.pending},
          {"load_s", s.load_s},
          {"last_inference_ms", s.last_inference_ms},
          {"last_minute",
           {{"requests", requests.count},
            {"p50_ms", milliseconds(requests, 0.5)},
            {"p90_ms", milliseconds(requests, 0.9)},
            {"p99_ms", milliseconds(requests, 0.99)},
            {"queue_p99_ms", milliseconds(recent(LatencyPhase::kQueue), 0.99)},
            {"compute_p99_ms", milliseconds(recent(LatencyPhase::kComputeInfer), 0.99)}}}};
}

}  // namespace

std::string status_text(const StatusSource& source) {
  std::map<std::pair<std::string, std::string>, std::shared_ptr<InferModel>> ready;
  for (const auto& model : source.models->all_ready())
    ready[{model->config().name, std::to_string(model->version())}] = model;
  Json models = Json::array();
  for (const IndexRow& row : source.models->index(false)) {
    Json one = {{"name", row.name},
                {"version", row.version},
                {"state", row.version.empty() ? "UNLOADED" : std::string(model_state_name(row.state))},
                {"reason", row.reason}};
    const auto found = ready.find({row.name, row.version});
    if (found != ready.end()) {
      const ModelConfig& config = found->second->config();
      one["backend"] = config.is_ensemble() ? "ensemble" : config.backend.empty() ? config.platform : config.backend;
      one["figures"] = figures(*found->second, *source.metrics);
    }
    models.push_back(std::move(one));
  }
  const Json out = {{"server", source.server_name},       {"version", source.version},
                    {"ready", source.models->is_ready()}, {"unix_s", static_cast<int64_t>(std::time(nullptr))},
                    {"steady_ms", now_ns() / 1'000'000},  {"models", std::move(models)}};
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<net::Endpoint> status_endpoints(const StatusSource& source) {
  const auto row = [](std::string pattern, std::string summary, net::Runs runs, std::function<net::Response()> answer) {
    return net::Endpoint{.method = "GET",
                         .pattern = std::move(pattern),
                         .summary = std::move(summary),
                         .handle = [answer = std::move(answer)](
                                       net::Request, std::shared_ptr<net::Responder> out) { out->send(answer()); },
                         .access = net::Access::kOpen,
                         .runs = runs};
  };
  return {row("/", "a page that shows the models and what they do", net::Runs::kOnLoop, page),
          row("/status", "what the page shows", net::Runs::kOnWorker,  // the index may look at files
              [source] { return net::json_response(200, status_text(source)); }),
          row("/metrics", "the models' metrics, as Prometheus reads them", net::Runs::kOnLoop, [source] {
            return net::Response{.status = 200,
                                 .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
                                 .body = source.metrics->text()};
          })};
}

}  // namespace nereid::server
