// SPDX-License-Identifier: Apache-2.0
// What `nereid bench` prints of a network.
#include <algorithm>
#include <cmath>

#include "base/progress.h"
#include "base/table.h"
#include "cli/bench_network.h"

namespace nereid::cli {
namespace {

constexpr auto kRight = Table::Align::right;

double mib(int64_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

// Microseconds of a millisecond's figure; finer digits are noise.
double rounded(double value) {
  return std::round(value * 1e4) / 1e4;
}

std::string ms_text(double ms) {
  return fmt::format("{:.{}f}", ms, ms < 10 ? 4 : ms < 100 ? 3 : 2);
}

struct LayerLine {
  const compile::LayerTime* layer;
  double mean_ms, median_ms, share;
};

std::vector<LayerLine> layer_lines(const compile::NetworkBench& bench) {
  double all = 0;
  for (const compile::LayerTime& layer : bench.layers) all += layer.total_ms();
  std::vector<LayerLine> lines;
  for (const compile::LayerTime& layer : bench.layers) {
    std::vector<double> ms = layer.ms;
    const double total = layer.total_ms();
    lines.push_back({.layer = &layer,
                     .mean_ms = ms.empty() ? 0 : total / static_cast<double>(ms.size()),
                     .median_ms = compile::median(ms),
                     .share = all > 0 ? total / all : 0});
  }
  return lines;
}

// In the order of the run; a second table sums by kernel, longest first.
std::string profile_text(const compile::NetworkBench& bench) {
  Table layers({{"layer"}, {"kernel"}, {"mean ms", kRight}, {"median ms", kRight}, {"share", kRight}});
  std::map<std::string, std::pair<int64_t, double>> kernels;
  double sum = 0;
  for (const LayerLine& line : layer_lines(bench)) {
    layers.add_row({line.layer->label, line.layer->kernel, ms_text(line.mean_ms), ms_text(line.median_ms),
                    fmt::format("{:.1f} %", 100 * line.share)});
    auto& [count, ms] = kernels[line.layer->kernel.empty() ? line.layer->label : line.layer->kernel];
    ++count;
    ms += line.mean_ms;
    sum += line.mean_ms;
  }
  layers.add_row({"all", "", ms_text(sum), "", ""});
  std::vector<std::pair<std::string, std::pair<int64_t, double>>> by_time(kernels.begin(), kernels.end());
  std::ranges::stable_sort(by_time, [](const auto& a, const auto& b) { return a.second.second > b.second.second; });
  Table sums({{"kernel"}, {"layers", kRight}, {"mean ms", kRight}, {"share", kRight}});
  for (const auto& [kernel, what] : by_time)
    sums.add_row({kernel, fmt::format("{}", what.first), ms_text(what.second),
                  fmt::format("{:.1f} %", sum > 0 ? 100 * what.second / sum : 0)});
  return "\n" + layers.markdown() + "\n" + sums.markdown();
}

}  // namespace

std::string network_report_text(const NetworkReport& r) {
  const compile::NetworkBench& b = r.bench;
  std::string out = fmt::format("{}: {} nodes, {} after the passes; {}, {}, {} thread{}\n", r.model, r.nodes_imported,
                                r.nodes_optimised, r.precision, r.isa, r.threads, r.threads == 1 ? "" : "s");
  for (const std::string& input : r.inputs) out += fmt::format("input {}\n", input);
  Table table({{"runs", kRight},
               {"runs/s", kRight},
               {"min ms", kRight},
               {"median", kRight},
               {"mean", kRight},
               {"p90", kRight},
               {"p95", kRight},
               {"p99", kRight},
               {"max", kRight}});
  const compile::Latencies& l = b.latency;
  table.add_row({fmt::format("{}", b.latencies_ms.size()), fmt::format("{:.2f}", b.throughput), ms_text(l.min),
                 ms_text(l.median), ms_text(l.mean), ms_text(l.p90), ms_text(l.p95), ms_text(l.p99), ms_text(l.max)});
  out += "\n" + table.markdown() + "\n";
  out += fmt::format("{} in {:.1f} ms, the first run took {:.1f} ms (kernels chosen, weights packed)\n",
                     r.is_engine ? "opened" : "built", b.open_ms, b.first_ms);
  out += fmt::format("memory: {} between the layers, {} of packed weights, at most {} resident\n",
                     format_bytes(b.plan_bytes), format_bytes(b.packed_bytes), format_bytes(r.peak_bytes));
  for (const std::string& note : b.notes) out += fmt::format("note: {}\n", note);
  if (!b.layers.empty()) out += profile_text(b);
  return out;
}

nlohmann::ordered_json network_report_json(const NetworkReport& r) {
  const compile::Latencies& l = r.bench.latency;
  nlohmann::ordered_json out = {{"model", r.model},
                                {"precision", r.precision},
                                {"isa", r.isa},
                                {"threads", r.threads},
                                {"inputs", r.inputs},
                                {"iterations", r.bench.latencies_ms.size()},
                                {"latency_ms",
                                 {{"min", rounded(l.min)},
                                  {"median", rounded(l.median)},
                                  {"mean", rounded(l.mean)},
                                  {"p90", rounded(l.p90)},
                                  {"p95", rounded(l.p95)},
                                  {"p99", rounded(l.p99)},
                                  {"max", rounded(l.max)}}},
                                {"throughput_per_second", rounded(r.bench.throughput)},
                                {"cpu_ms", rounded(r.bench.cpu_ms)},
                                {"load_ms", rounded(r.bench.open_ms + r.bench.first_ms)},
                                {"build_ms", rounded(r.is_engine ? 0 : r.bench.open_ms)},
                                {"first_run_ms", rounded(r.bench.first_ms)},
                                {"rss_mib", rounded(mib(r.peak_bytes))},
                                {"notes", r.bench.notes}};
  if (r.bench.layers.empty()) return out;
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  for (const LayerLine& line : layer_lines(r.bench))
    layers.push_back({{"name", line.layer->label},
                      {"kernel", line.layer->kernel},
                      {"mean_ms", rounded(line.mean_ms)},
                      {"median_ms", rounded(line.median_ms)},
                      {"share", rounded(line.share)}});
  out["layers"] = std::move(layers);
  return out;
}

}  // namespace nereid::cli
