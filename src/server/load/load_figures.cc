// SPDX-License-Identifier: Apache-2.0
#include "server/load/load_figures.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace nereid::server::load {
namespace {

double ms(double ns) {
  return 1e-6 * ns;
}

// Milliseconds; negative where it is none.
double duration_ms(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || value <= 0) return -1;
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  if (unit.empty() || unit == "ms") return value;
  return unit == "s" ? 1e3 * value : -1;
}

}  // namespace

double RequestFigures::per_token_ns() const {
  if (answer_tokens < 2 || first_ns == 0) return 0;
  const int64_t last_ns = std::accumulate(gaps_ns.begin(), gaps_ns.end(), first_ns);
  return static_cast<double>(last_ns - first_ns) / static_cast<double>(answer_tokens - 1);
}

bool ServiceLevel::keeps(const RequestFigures& r) const {
  const auto within = [](double limit_ms, double ns) { return limit_ms == 0 || ms(ns) <= limit_ms; };
  return r.is_ok() && within(ttft_ms, static_cast<double>(r.ttft_ns())) && within(itl_ms, r.per_token_ns()) &&
         within(e2e_ms, static_cast<double>(r.whole_ns()));
}

Result<ServiceLevel> parse_service_level(std::string_view text) {
  ServiceLevel level;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const size_t equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    double* const member = name == "ttft"  ? &level.ttft_ms
                           : name == "itl" ? &level.itl_ms
                           : name == "e2e" ? &level.e2e_ms
                                           : nullptr;
    const double value = equals == part.npos ? -1 : duration_ms(part.substr(equals + 1));
    if (member == nullptr || value < 0)
      return invalid_argument("'{}' is no part of a service level; write ttft=500ms,itl=50ms,e2e=20s or some of it",
                              part);
    *member = value;
  }
  return level;
}

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const double rank = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<size_t>(rank);
    const size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (rank - static_cast<double>(below)) * (values[above] - values[below]);
  };
  return {.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()),
          .p50 = at(0.5),
          .p90 = at(0.9),
          .p95 = at(0.95),
          .p99 = at(0.99),
          .max = values.back()};
}

LoadSummary summarize(std::string mode, double level, const std::vector<RequestFigures>& requests,
                      const ServiceLevel& service_level) {
  LoadSummary s{.mode = std::move(mode), .level = level, .requests = static_cast<int64_t>(requests.size())};
  std::vector<double> ttft, itl, tpot, e2e;
  int64_t begin = INT64_MAX, end = 0, good = 0;
  for (const RequestFigures& r : requests) {
    begin = std::min(begin, r.due_ns);
    end = std::max(end, r.end_ns);
    if (!r.is_ok()) {
      if (s.failed++ == 0) s.first_error = r.error;
      continue;
    }
    good += service_level.keeps(r);
    s.prompt_tokens += r.prompt_tokens;
    s.answer_tokens += r.answer_tokens;
    e2e.push_back(ms(static_cast<double>(r.whole_ns())));
    if (r.first_ns == 0) continue;
    ttft.push_back(ms(static_cast<double>(r.ttft_ns())));
    for (const int64_t gap : r.gaps_ns) itl.push_back(ms(static_cast<double>(gap)));
    if (r.answer_tokens > 1) tpot.push_back(ms(r.per_token_ns()));
  }
  s.ttft_ms = spread_of(std::move(ttft));
  s.itl_ms = spread_of(std::move(itl));
  s.tpot_ms = spread_of(std::move(tpot));
  s.e2e_ms = spread_of(std::move(e2e));
  s.seconds = requests.empty() ? 0 : 1e-9 * static_cast<double>(end - begin);
  if (s.seconds <= 0) return s;
  s.requests_per_second = static_cast<double>(s.requests - s.failed) / s.seconds;
  s.answer_tokens_per_second = static_cast<double>(s.answer_tokens) / s.seconds;
  s.all_tokens_per_second = static_cast<double>(s.answer_tokens + s.prompt_tokens) / s.seconds;
  s.goodput_per_second = static_cast<double>(good) / s.seconds;
  s.goodput_share = static_cast<double>(good) / static_cast<double>(s.requests);
  return s;
}

}  // namespace nereid::server::load
