// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/metrics_config.h"

#include <charconv>

namespace nereid::server::metrics {
namespace {

Status read_flag(const std::string& name, const std::string& value, bool* out) {
  if (value != "true" && value != "false" && value != "1" && value != "0")
    return invalid_argument("--metrics-config: '{}' is true or false, found '{}'", name, value);
  *out = value == "true" || value == "1";
  return Status::ok();
}

Status read_quantiles(std::string_view text, std::vector<double>* out) {
  out->clear();
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const std::string_view number = one.substr(0, one.find(':'));
    double quantile = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), quantile);
    if (error != std::errc() || end != number.data() + number.size() || !(quantile >= 0 && quantile <= 1))
      return invalid_argument(
          "--metrics-config: 'summary_quantiles' takes QUANTILE:ERROR,... with quantiles from 0 to 1, found '{}'", one);
    out->push_back(quantile);
  }
  return Status::ok();
}

}  // namespace

Result<MetricsConfig> parse_metrics_config(std::span<const std::string> texts) {
  MetricsConfig out;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals), value = equals == text.npos ? "" : text.substr(equals + 1);
    if (equals == text.npos) return invalid_argument("--metrics-config takes SETTING=VALUE, found '{}'", text);
    if (name == "counter_latencies") {
      NEREID_RETURN_IF_ERROR(read_flag(name, value, &out.counters));
    } else if (name == "histogram_latencies") {
      NEREID_RETURN_IF_ERROR(read_flag(name, value, &out.histograms));
    } else if (name == "summary_latencies") {
      NEREID_RETURN_IF_ERROR(read_flag(name, value, &out.summaries));
    } else if (name == "summary_quantiles") {
      NEREID_RETURN_IF_ERROR(read_quantiles(value, &out.quantiles));
    } else {
      return invalid_argument(
          "--metrics-config: there is no setting '{}'; there are counter_latencies, histogram_latencies, "
          "summary_latencies and summary_quantiles",
          name);
    }
  }
  return out;
}

}  // namespace nereid::server::metrics
