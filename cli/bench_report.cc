// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_report.h"

#include <cmath>

#include "base/progress.h"
#include "base/table.h"

namespace nereid::cli {
namespace {

constexpr double kGiga = 1e9;

// Digits below a thousandth are noise, and make the object hard to read.
double to_thousandths(double value) {
  return std::round(value * 1e3) / 1e3;
}

std::string share_text(double share) {
  return share > 0 ? fmt::format("{:.{}f} %", 100 * share, share < 0.1 ? 1 : 0) : "";
}

double roof_share(const BenchReport& report, const BenchResult& result) {
  return report.roof_bytes_per_second > 0 ? result.best_bytes_per_second() / report.roof_bytes_per_second : 0;
}

}  // namespace

std::string format_count(int64_t count) {
  const auto n = static_cast<double>(count);
  if (n >= 1e9) return fmt::format("{:.2f} B", n / 1e9);
  if (n >= 1e6) return fmt::format("{:.2f} M", n / 1e6);
  if (n >= 1e3) return fmt::format("{:.2f} k", n / 1e3);
  return fmt::format("{}", count);
}

std::string bench_markdown(const std::vector<BenchReport>& reports) {
  constexpr auto kAtRight = Table::Align::right;
  Table table({{"model"},
               {"size", kAtRight},
               {"params", kAtRight},
               {"isa"},
               {"threads", kAtRight},
               {"test"},
               {"batch", kAtRight},
               {"t/s best", kAtRight},
               {"t/s median", kAtRight},
               {"MB/token", kAtRight},
               {"GB/s", kAtRight},
               {"of roof", kAtRight}});
  std::string notes;
  for (const BenchReport& r : reports) {
    for (const BenchResult& one : r.results)
      table.add_row(
          {r.description, format_bytes(r.weight_bytes), format_count(r.parameters), r.isa, fmt::format("{}", r.threads),
           one.what.name(), fmt::format("{}", one.what.batch), fmt::format("{:.2f}", one.best_tokens_per_second()),
           fmt::format("{:.2f}", one.median_tokens_per_second()), fmt::format("{:.2f}", one.bytes_per_token() / 1e6),
           fmt::format("{:.2f}", one.best_bytes_per_second() / kGiga), share_text(roof_share(r, one))});
    notes += fmt::format("{} thread{}: loaded in {:.1f} ms, at most {} resident", r.threads, r.threads == 1 ? "" : "s",
                         r.load_ms, format_bytes(r.peak_bytes));
    if (r.roof_bytes_per_second > 0) notes += fmt::format(", memory roof {:.2f} GB/s", r.roof_bytes_per_second / kGiga);
    notes += '\n';
  }
  return table.markdown() + "\n" + notes;
}

Json bench_json(const BenchReport& r) {
  Json results = Json::array();
  for (const BenchResult& one : r.results)
    results.push_back({{"test", one.what.name()},
                       {"batch", one.what.batch},
                       {"tokens_per_second",
                        {{"best", to_thousandths(one.best_tokens_per_second())},
                         {"median", to_thousandths(one.median_tokens_per_second())}}},
                       {"gb_per_second", to_thousandths(one.best_bytes_per_second() / kGiga)},
                       {"roof_share", to_thousandths(roof_share(r, one))}});
  return {{"model", r.model},
          {"isa", r.isa},
          {"threads", r.threads},
          {"results", std::move(results)},
          {"load_ms", to_thousandths(r.load_ms)},
          {"rss_mib", to_thousandths(static_cast<double>(r.peak_bytes) / (1 << 20))}};
}

std::string bench_profile_markdown(const BenchCase& what, const std::vector<BenchStepTime>& times) {
  constexpr auto kAtRight = Table::Align::right;
  double all = 0;
  for (const BenchStepTime& t : times) all += t.us;
  Table table({{fmt::format("{}, batch {}", what.name(), what.batch)},
               {"steps", kAtRight},
               {"us", kAtRight},
               {"share", kAtRight}});
  for (const BenchStepTime& t : times)
    table.add_row({t.label, fmt::format("{}", t.steps), fmt::format("{:.1f}", t.us),
                   fmt::format("{:.1f} %", all > 0 ? 100 * t.us / all : 0)});
  table.add_row({"all", "", fmt::format("{:.1f}", all), ""});
  return table.markdown();
}

}  // namespace nereid::cli
