// SPDX-License-Identifier: Apache-2.0
#include "server/load/load_report.h"

#include <cmath>

#include "base/table.h"

namespace nereid::server::load {
namespace {

double rounded(double value) {
  return std::round(value * 1e3) / 1e3;
}

Json spread_json(const Spread& s) {
  return {{"mean", rounded(s.mean)}, {"p50", rounded(s.p50)}, {"p90", rounded(s.p90)},
          {"p95", rounded(s.p95)},   {"p99", rounded(s.p99)}, {"max", rounded(s.max)}};
}

double ms(int64_t ns) {
  return 1e-6 * static_cast<double>(ns);
}

// RFC 4180.
std::string csv_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out + "\"";
}

}  // namespace

std::string load_table(const LoadReport& report) {
  constexpr auto kRight = Table::Align::right;
  std::vector<Table::Column> columns = {
      {"load"}, {"requests", kRight}, {"failed", kRight}, {"req/s", kRight}, {"answer t/s", kRight}};
  if (report.service_level.any()) columns.push_back({"good req/s", kRight});
  for (const char* name :
       {"TTFT p50", "p90", "p95", "p99", "ITL p50", "p90", "p95", "p99", "E2E p50", "p90", "p95", "p99"})
    columns.push_back({name, kRight});
  Table table(std::move(columns));
  for (const LoadRun& run : report.runs) {
    const LoadSummary& s = run.summary;
    std::vector<std::string> cells = {s.mode, fmt::format("{}", s.requests), fmt::format("{}", s.failed),
                                      fmt::format("{:.2f}", s.requests_per_second),
                                      fmt::format("{:.1f}", s.answer_tokens_per_second)};
    if (report.service_level.any())
      cells.push_back(fmt::format("{:.2f} ({:.0f} %)", s.goodput_per_second, 100 * s.goodput_share));
    for (const Spread* one : {&s.ttft_ms, &s.itl_ms, &s.e2e_ms})
      for (const double value : {one->p50, one->p90, one->p95, one->p99}) cells.push_back(fmt::format("{:.1f}", value));
    table.add_row(std::move(cells));
  }
  return table.markdown() +
         "\nTimes in milliseconds: TTFT to the first text, ITL from one piece of text to the next, E2E to the end.\n";
}

std::string infer_table(const LoadReport& report) {
  constexpr auto kRight = Table::Align::right;
  std::vector<Table::Column> columns = {{"load"}};
  for (const char* name : {"requests", "failed", "infer/s", "p50", "p90", "p95", "p99", "max"})
    columns.push_back({name, kRight});
  Table table(std::move(columns));
  for (const LoadRun& run : report.runs) {
    const LoadSummary& s = run.summary;
    std::vector<std::string> cells = {s.mode, fmt::format("{}", s.requests), fmt::format("{}", s.failed),
                                      fmt::format("{:.1f}", s.requests_per_second)};
    for (const double ms : {s.e2e_ms.p50, s.e2e_ms.p90, s.e2e_ms.p95, s.e2e_ms.p99, s.e2e_ms.max})
      cells.push_back(fmt::format("{:.3f}", ms));
    table.add_row(std::move(cells));
  }
  return table.markdown() + "\nTimes in milliseconds, from the request to the end of its answer.\n";
}

Json load_json(const LoadReport& report) {
  Json results = Json::array();
  for (const LoadRun& run : report.runs) {
    const LoadSummary& s = run.summary;
    Json one = {{"load", s.mode},
                {"level", rounded(s.level)},
                {"requests", s.requests},
                {"failed", s.failed},
                {"seconds", rounded(s.seconds)},
                {"prompt_tokens", s.prompt_tokens},
                {"answer_tokens", s.answer_tokens},
                {"requests_per_second", rounded(s.requests_per_second)},
                {"answer_tokens_per_second", rounded(s.answer_tokens_per_second)},
                {"tokens_per_second", rounded(s.all_tokens_per_second)},
                {"ttft_ms", spread_json(s.ttft_ms)},
                {"itl_ms", spread_json(s.itl_ms)},
                {"tpot_ms", spread_json(s.tpot_ms)},
                {"e2e_ms", spread_json(s.e2e_ms)}};
    if (report.service_level.any()) {
      one["goodput_per_second"] = rounded(s.goodput_per_second);
      one["goodput_share"] = rounded(s.goodput_share);
    }
    if (s.failed > 0) one["first_error"] = s.first_error;
    results.push_back(std::move(one));
  }
  return {{"url", report.url}, {"model", report.model}, {"endpoint", report.endpoint}, {"results", std::move(results)}};
}

std::string load_csv(const LoadReport& report) {
  std::string out = "load,request,at_ms,status,prompt_tokens,answer_tokens,ttft_ms,tpot_ms,e2e_ms,error\n";
  for (const LoadRun& run : report.runs) {
    int64_t begin_ns = INT64_MAX, number = 0;
    for (const RequestFigures& r : run.requests) begin_ns = std::min(begin_ns, r.due_ns);
    for (const RequestFigures& r : run.requests)
      out += fmt::format("{},{},{:.3f},{},{},{},{},{:.3f},{:.3f},{}\n", csv_text(run.summary.mode), number++,
                         ms(r.due_ns - begin_ns), r.status, r.prompt_tokens, r.answer_tokens,
                         r.first_ns == 0 ? std::string() : fmt::format("{:.3f}", ms(r.ttft_ns())),
                         1e-6 * r.per_token_ns(), ms(r.whole_ns()), r.is_ok() ? std::string() : csv_text(r.error));
  }
  return out;
}

}  // namespace nereid::server::load
