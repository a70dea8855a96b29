// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/model_labels.h"

#include <fmt/format.h>

#include <map>

#include "server/metrics/registry.h"

namespace nereid::server::metrics {

std::string model_labels(const InferModel& model, std::string_view reason) {
  std::map<std::string, std::string> labels{{"model", model.config().name},
                                            {"version", std::to_string(model.version())}};
  if (!reason.empty()) labels["reason"] = reason;
  for (const auto& [key, value] : model.config().metric_tags) labels["_" + key] = value;
  std::string out;
  for (const auto& [key, value] : labels)
    out += fmt::format("{}{}=\"{}\"", out.empty() ? "" : ",", key, escape_label(value));
  return out;
}

}  // namespace nereid::server::metrics
