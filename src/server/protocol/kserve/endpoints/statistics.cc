// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "server/protocol/kserve/endpoints/handlers.h"
#include "server/protocol/kserve/json_writer.h"
#include "server/protocol/kserve/kserve_error.h"

namespace nereid::server::kserve {
namespace {

std::string sum_text(std::string_view name, const DurationSum& sum) {
  return fmt::format("\"{}\":{{\"count\":{},\"ns\":{}}}", name, sum.count, sum.ns);
}

std::string compute_text(const ComputeSums& sums) {
  return sum_text("compute_input", sums.input) + "," + sum_text("compute_infer", sums.infer) + "," +
         sum_text("compute_output", sums.output);
}

std::string model_text(const InferModel& model) {
  const InferStatistics s = model.statistics();
  std::string out = "{\"name\":";
  append_text(&out, model.config().name);
  out += fmt::format(",\"version\":\"{}\",\"last_inference\":{},\"inference_count\":{},\"execution_count\":{}",
                     model.version(), s.last_inference_ms, s.inferences, s.executions);
  out += ",\"inference_stats\":{" + sum_text("success", s.success) + "," + sum_text("fail", s.fail) + "," +
         sum_text("queue", s.queue) + "," + compute_text(s.compute) + "," + sum_text("cache_hit", s.cache_hit) + "," +
         sum_text("cache_miss", s.cache_miss) + "},\"response_stats\":{},\"batch_stats\":[";
  bool is_first = true;
  for (const auto& [size, sums] : s.batches) {
    out += fmt::format("{}{{\"batch_size\":{},{}}}", is_first ? "" : ",", size, compute_text(sums));
    is_first = false;
  }
  return out + "],\"memory_usage\":[]}";
}

net::Response answer(const std::vector<std::shared_ptr<InferModel>>& models) {
  std::string body = "{\"model_stats\":[";
  for (size_t i = 0; i < models.size(); ++i) body += (i > 0 ? "," : "") + model_text(*models[i]);
  return net::json_response(200, body + "]}");
}

}  // namespace

net::Response model_statistics(const Service& service, const net::Request& request) {
  const std::optional<int64_t> version = version_of(request);
  if (!version) return no_such_path();
  const std::string& name = *net::find_value(request.parameters, "model");
  const auto models = service.models->ready(name);
  if (models.empty()) return error_response(400, fmt::format("requested model '{}' is not available", name));
  if (*version == -1) return answer(models);
  for (const auto& one : models)
    if (one->version() == *version) return answer({one});
  return error_response(400, fmt::format("requested model version is not available for model '{}'", name));
}

net::Response all_statistics(const Service& service, const net::Request&) {
  return answer(service.models->all_ready());
}

}  // namespace nereid::server::kserve
