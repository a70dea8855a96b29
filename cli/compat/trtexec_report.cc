// SPDX-License-Identifier: Apache-2.0
#include "cli/compat/trtexec_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nereid::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double mean(const std::vector<double>& values) {
  return values.empty() ? 0 : sum(values) / static_cast<double>(values.size());
}

// As an ostream prints a double: six digits that count.
std::string number(double value) {
  return fmt::format("{:.6g}", value);
}

std::string statistics(std::string_view what, std::vector<double> values, const std::vector<double>& percentiles) {
  const compile::Latencies l = compile::summarize(values);
  std::string out = fmt::format("{}: min = {} ms, max = {} ms, mean = {} ms, median = {} ms", what, number(l.min),
                                number(l.max), number(l.mean), number(l.median));
  for (const double percent : percentiles)
    out += fmt::format(", percentile({}%) = {} ms", number(percent), number(compile::percentile(values, percent)));
  return out;
}

std::vector<double> values_of(const std::vector<TrtexecTimes>& times, double TrtexecTimes::*member) {
  std::vector<double> values;
  values.reserve(times.size());
  for (const TrtexecTimes& t : times) values.push_back(t.*member);
  return values;
}

std::string dimensions(const std::vector<int64_t>& sizes) {
  return fmt::format("{}", fmt::join(sizes, "x"));
}

OrderedJson tensor_json(const compile::LayerTensor& tensor) {
  return {{"Name", tensor.name}, {"Type", tensor.type}};
}

}  // namespace

std::vector<TrtexecTimes> trtexec_times(const compile::TimedRuns& runs) {
  std::vector<TrtexecTimes> times;
  times.reserve(runs.runs.size());
  for (const compile::RunTime& run : runs.runs)
    times.push_back({.start_ms = static_cast<double>(run.start_ns) / 1e6,
                     .enqueue_ms = static_cast<double>(run.inputs_ns - run.start_ns) / 1e6,
                     .compute_ms = static_cast<double>(run.end_ns - run.inputs_ns) / 1e6});
  return times;
}

std::vector<std::string> trace_lines(const std::vector<TrtexecTimes>& times, int64_t average_runs) {
  std::vector<std::string> lines = {"",
                                    "=== Trace details ===", fmt::format("Trace averages of {} runs:", average_runs)};
  const auto step = static_cast<size_t>(average_runs);
  for (size_t begin = 0; begin < times.size(); begin += step) {
    const size_t count = std::min(step, times.size() - begin);
    double compute = 0, enqueue = 0;
    for (size_t i = begin; i < begin + count; ++i) {
      compute += times[i].compute_ms;
      enqueue += times[i].enqueue_ms;
    }
    const auto n = static_cast<double>(count);
    lines.push_back(fmt::format("Average on {} runs - GPU latency: {} ms - Host latency: {} ms (enqueue {} ms)", count,
                                number(compute / n), number(compute / n), number(enqueue / n)));
  }
  return lines;
}

std::vector<std::string> summary_lines(const std::vector<TrtexecTimes>& times, double wall_ms,
                                       const std::vector<double>& percentiles) {
  const std::vector<double> compute = values_of(times, &TrtexecTimes::compute_ms);
  const std::vector<double> none(times.size(), 0.0);
  std::vector<std::string> lines = {"", "=== Performance summary ==="};
  lines.push_back(
      fmt::format("Throughput: {} qps", number(wall_ms > 0 ? 1e3 * static_cast<double>(times.size()) / wall_ms : 0)));
  lines.push_back(statistics("Latency", compute, percentiles));
  lines.push_back(statistics("Enqueue Time", values_of(times, &TrtexecTimes::enqueue_ms), percentiles));
  lines.push_back(statistics("H2D Latency", none, percentiles));
  lines.push_back(statistics("GPU Compute Time", compute, percentiles));
  lines.push_back(statistics("D2H Latency", none, percentiles));
  lines.push_back(fmt::format("Total Host Walltime: {} s", number(wall_ms / 1e3)));
  lines.push_back(fmt::format("Total GPU Compute Time: {} s", number(sum(compute) / 1e3)));
  double spread = 0;
  for (const double ms : compute) spread += (ms - mean(compute)) * (ms - mean(compute));
  const double deviation = compute.empty() ? 0 : std::sqrt(spread / static_cast<double>(compute.size()));
  if (mean(compute) > 0 && deviation / mean(compute) > 0.01)
    lines.push_back(fmt::format(
        "* GPU compute time is unstable, with coefficient of variance = {}%: other work on this machine disturbs it.",
        number(100 * deviation / mean(compute))));
  lines.emplace_back("Explanations: nothing is copied to a device and back here, so the latency is the compute time.");
  return lines;
}

std::vector<std::string> profile_lines(const std::vector<compile::LayerTime>& layers) {
  const size_t runs = layers.empty() ? 0 : layers[0].ms.size();
  double all = 0, medians = 0;
  for (const compile::LayerTime& layer : layers) all += layer.total_ms();
  std::vector<std::string> lines = {
      "", fmt::format("=== Profile ({} iterations ) ===", runs),
      fmt::format("{:>12} {:>12} {:>12} {:>8}   {}", "Time(ms)", "Avg.(ms)", "Median(ms)", "Time(%)", "Layer")};
  const auto line = [&](double total, double average, double median, double percent, std::string_view name) {
    lines.push_back(fmt::format("{:>12.2f} {:>12.4f} {:>12.4f} {:>8.1f}   {}", total, average, median, percent, name));
  };
  for (const compile::LayerTime& layer : layers) {
    std::vector<double> ms = layer.ms;
    const double total = layer.total_ms(), median = compile::median(ms);
    medians += median;
    line(total, mean(ms), median, all > 0 ? 100 * total / all : 0, layer.label);
  }
  line(all, runs > 0 ? all / static_cast<double>(runs) : 0, medians, 100, "Total");
  lines.emplace_back();
  return lines;
}

OrderedJson times_json(const std::vector<TrtexecTimes>& times) {
  OrderedJson list = OrderedJson::array();
  for (const TrtexecTimes& t : times) {
    const double begin = t.start_ms + t.enqueue_ms, end = begin + t.compute_ms;
    list.push_back({{"startEnqMs", t.start_ms},
                    {"endEnqMs", begin},
                    {"startH2dMs", begin},
                    {"endH2dMs", begin},
                    {"startComputeMs", begin},
                    {"endComputeMs", end},
                    {"startD2hMs", end},
                    {"endD2hMs", end},
                    {"h2dMs", 0.0},
                    {"computeMs", t.compute_ms},
                    {"d2hMs", 0.0},
                    {"latencyMs", t.latency_ms()}});
  }
  return list;
}

OrderedJson profile_json(const std::vector<compile::LayerTime>& layers) {
  double all = 0;
  for (const compile::LayerTime& layer : layers) all += layer.total_ms();
  OrderedJson list = OrderedJson::array();
  list.push_back({{"count", layers.empty() ? 0 : layers[0].ms.size()}});
  for (const compile::LayerTime& layer : layers) {
    std::vector<double> ms = layer.ms;
    const double total = layer.total_ms();
    list.push_back({{"name", layer.label},
                    {"timeMs", total},
                    {"averageMs", mean(ms)},
                    {"medianMs", compile::median(ms)},
                    {"percentage", all > 0 ? 100 * total / all : 0}});
  }
  return list;
}

OrderedJson layers_json(const std::vector<compile::LayerInfo>& layers, const compile::OpenedNetwork& network,
                        bool detailed) {
  OrderedJson list = OrderedJson::array(), bindings = OrderedJson::array();
  for (const compile::LayerInfo& layer : layers) {
    if (!detailed) {
      list.push_back(fmt::format("{} {}", layer.op, layer.name));
      continue;
    }
    OrderedJson one = {{"Name", layer.name},
                       {"LayerType", layer.op},
                       {"Inputs", OrderedJson::array()},
                       {"Outputs", OrderedJson::array()},
                       {"Constants", layer.constants}};
    for (const compile::LayerTensor& in : layer.inputs) one["Inputs"].push_back(tensor_json(in));
    for (const compile::LayerTensor& o : layer.outputs) one["Outputs"].push_back(tensor_json(o));
    list.push_back(std::move(one));
  }
  for (const compile::NamedType& in : network.inputs) bindings.push_back(in.name);
  for (const compile::NamedType& o : network.outputs) bindings.push_back(o.name);
  return {{"Layers", std::move(list)}, {"Bindings", std::move(bindings)}};
}

OrderedJson outputs_json(const compile::OpenedNetwork& network, const runtime::NetContext& context) {
  OrderedJson list = OrderedJson::array();
  for (size_t i = 0; i < network.outputs.size(); ++i) {
    const ops::Datum value = context.output_value(i);
    OrderedJson one = {{"name", network.outputs[i].name}};
    if (!value.is_tensor()) {
      one["dimensions"] = nullptr;
      one["values"] = OrderedJson::array();
    } else {
      one["dimensions"] = dimensions(value.tensor.sizes);
      if (value.tensor.dtype == DType::string)
        one["values"] = value.tensor.strings;
      else
        one["values"] = value.tensor.numbers();
    }
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace nereid::cli
