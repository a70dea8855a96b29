// SPDX-License-Identifier: Apache-2.0
#include "cli/explain_text.h"

#include <algorithm>
#include <map>

#include "base/table.h"

namespace nereid::cli {
namespace {

constexpr auto kNumber = Table::Align::right;

std::string ms_text(std::optional<double> ms) {
  return ms ? fmt::format("{:.4f}", *ms) : std::string();
}

std::string count_text(double value) {
  if (value >= 1e9) return fmt::format("{:.2f} G", value / 1e9);
  if (value >= 1e6) return fmt::format("{:.2f} M", value / 1e6);
  if (value >= 1e3) return fmt::format("{:.1f} k", value / 1e3);
  return fmt::format("{:.0f}", value);
}

std::string header(const compile::NetworkView& view) {
  std::string text = fmt::format("{} ({}): ", view.file, view.kind);
  if (view.before) text += fmt::format("{} nodes became {}", view.before->order().size(), view.after.order().size());
  if (!view.before) text += fmt::format("{} nodes", view.after.order().size());
  if (!view.isa.empty()) text += fmt::format("; {}, {}", view.precision, view.isa);
  if (view.account.threads > 0)
    text += fmt::format(", {} thread{}", view.account.threads, view.account.threads == 1 ? "" : "s");
  text += "\n";
  for (const auto& in : view.inputs) text += fmt::format("input {} {}\n", in.name, in.type.to_string());
  for (const std::string& remark : view.remarks) text += "note: " + remark + "\n";
  if (!view.account.not_run.empty()) text += "note: " + view.account.not_run + "\n";
  return text;
}

// Records of one kind: their number and where the first is.
struct Kind {
  int64_t count = 0;
  std::string first;
};

std::string record_lines(const compile::PassSummary& pass, bool fired, bool all) {
  std::string text;
  if (all) {
    for (const passes::Record& r : pass.records)
      if (r.fired == fired) text += fmt::format("  {}: {}\n", r.where, r.what);
    return text;
  }
  std::map<std::string, Kind> kinds;
  for (const passes::Record& r : pass.records) {
    if (r.fired != fired) continue;
    Kind& kind = kinds[without_names(fmt::format("{}: {}", r.where, r.what))];
    if (kind.count++ == 0) kind.first = fmt::format("{}: {}", r.where, r.what);
  }
  for (const auto& [form, kind] : kinds)
    text += kind.count == 1 ? fmt::format("  {}\n", kind.first)
                            : fmt::format("  {}, and {} more like it\n", kind.first, kind.count - 1);
  return text;
}

std::string passes_text(const compile::NetworkView& view, bool all) {
  if (view.passes.empty()) return "\nNothing is known here of what the passes did.\n";
  Table table({{"pass"}, {"did", kNumber}, {"refused", kNumber}, {"nodes", kNumber}, {"why it is there"}});
  std::string made, refused;
  size_t idle = 0, records = 0;
  for (const compile::PassSummary& pass : view.passes) {
    records += pass.records.size();
    if (pass.is_idle()) {
      ++idle;
      continue;
    }
    table.add_row({pass.name, pass.enabled ? fmt::format("{}", pass.fired) : "disabled",
                   fmt::format("{}", pass.refused), fmt::format("{} -> {}", pass.nodes_before, pass.nodes_after),
                   pass.reason});
    if (const std::string lines = record_lines(pass, true, all); !lines.empty())
      made += fmt::format("{} ({} times)\n{}", pass.name, pass.fired, lines);
    if (const std::string lines = record_lines(pass, false, all); !lines.empty())
      refused += fmt::format("{} ({} times)\n{}", pass.name, pass.refused, lines);
  }
  std::string text = "\n# Passes\n\n" + table.markdown();
  if (idle > 0) text += fmt::format("\n{} other passes found nothing to do\n", idle);
  if (records == 0) text += "\nan engine keeps the numbers alone: the file it was built from tells where and why\n";
  if (!made.empty()) text += "\n# What they did\n\n" + made;
  if (!refused.empty()) text += "\n# What they refused\n\n" + refused;
  return text;
}

std::string why(const compile::LayerAccount& layer) {
  if (!layer.note.empty()) return layer.note;
  if (layer.kernel.empty()) return "no work: known from sizes, or another name for its input";
  if (layer.tactic.empty()) return {};
  return fmt::format("{}: {}", layer.tactic, layer.chosen_because.empty() ? "by rule" : layer.chosen_because);
}

std::string layers_text(const compile::NetworkAccount& account) {
  const bool timed = account.runs > 0, ran = account.not_run.empty();
  std::vector<Table::Column> columns = {{"layer"}, {"precision"}, {"result"}};
  if (ran) columns.insert(columns.end(), {{"kernel"}, {"flops", kNumber}, {"bytes", kNumber}});
  if (timed) columns.insert(columns.end(), {{"ms", kNumber}, {"of the roof", kNumber}});
  if (ran) columns.push_back({"why"});
  Table table(columns);
  for (const compile::LayerAccount& layer : account.layers) {
    std::vector<std::string> cells = {fmt::format("{}{} %{}", layer.path, layer.op, layer.name), layer.precision,
                                      layer.outputs.empty() ? "" : layer.outputs[0]};
    if (ran) cells.insert(cells.end(), {layer.kernel, count_text(layer.cost.flops), count_text(layer.bytes())});
    if (timed) {
      const auto share = layer.roof_share();
      cells.push_back(ms_text(layer.ms));
      cells.push_back(share ? fmt::format("{:.0f} %", 100 * *share) : std::string());
    }
    if (ran) cells.push_back(why(layer));
    table.add_row(std::move(cells));
  }
  std::string text = "\n# Layers\n\n" + table.markdown();
  if (!timed) return text;
  text +=
      fmt::format("\na run takes {} ms; timed layer by layer: {} ms in them, {} ms between them (medians of {} runs)\n",
                  ms_text(account.run_ms), ms_text(account.layers_ms()), ms_text(account.between_ms), account.runs);
  if (!account.roof) return text;
  text += fmt::format("the roof: {:.1f} GFLOP/s in f32", account.roof->flops_per_second / 1e9);
  for (const auto& reach : account.roof->memory)
    text += fmt::format(", {:.1f} GB/s from {:.1f} MB", reach.bytes_per_second / 1e9,
                        static_cast<double>(reach.bytes) / 1e6);
  return text + "\n";
}

std::string kernels_text(const compile::NetworkAccount& account) {
  std::map<std::string, std::pair<int64_t, double>> kernels;
  for (const compile::LayerAccount& layer : account.layers) {
    if (layer.kernel.empty()) continue;
    auto& [count, ms] = kernels[layer.kernel];
    ++count;
    ms += layer.ms.value_or(0);
  }
  std::vector<std::pair<std::string, std::pair<int64_t, double>>> rows(kernels.begin(), kernels.end());
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) {
    return std::pair(a.second.second, a.second.first) > std::pair(b.second.second, b.second.first);
  });
  Table table({{"kernel"}, {"layers", kNumber}, {"ms", kNumber}});
  for (const auto& [kernel, what] : rows)
    table.add_row({kernel, fmt::format("{}", what.first), account.runs > 0 ? ms_text(what.second) : std::string()});
  return rows.empty() ? std::string() : "\n# Kernels\n\n" + table.markdown();
}

}  // namespace

std::string without_names(std::string_view sentence) {
  std::string out;
  for (size_t i = 0; i < sentence.size(); ++i) {
    out += sentence[i];
    if (sentence[i] != '%') continue;
    // A name ends before a space, a comma, a colon at the end of a word, or a bracket.
    while (i + 1 < sentence.size() &&
           std::string_view(" ,()[]{};'\"").find(sentence[i + 1]) == std::string_view::npos) {
      const bool ends = sentence[i + 1] == ':' && (i + 2 == sentence.size() || sentence[i + 2] == ' ');
      if (ends) break;
      ++i;
    }
  }
  return out;
}

std::string explain_text(const compile::NetworkView& view, bool all) {
  return header(view) + passes_text(view, all) + kernels_text(view.account) + layers_text(view.account);
}

}  // namespace nereid::cli
