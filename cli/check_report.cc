// SPDX-License-Identifier: Apache-2.0
#include "cli/check_report.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/table.h"
#include "cli/inspect_text.h"

namespace nereid::cli {
namespace {

using compile::CheckedValue;
using compile::ValueDifference;

constexpr size_t kShortTable = 40, kWorst = 10, kMostPast = 20;
constexpr size_t kLongestName = 60;

std::string difference_text(const ValueDifference& d) {
  if (!d.mismatch.empty()) return d.mismatch;
  std::string text = d.is_exact ? fmt::format("{} of {} differ", d.unequal, d.elements)
                                : fmt::format("largest error {:.3g}, {:.3g} of the range", d.max_abs, d.relative());
  if (d.nans > 0) text += fmt::format(", NaN on one side in {}", d.nans);
  if (d.infinities > 0) text += fmt::format(", infinite on one side in {}", d.infinities);
  return text;
}

std::string layer_text(const CheckedValue& v) {
  if (v.op.empty()) return "input";
  return v.kernel.empty() ? v.op : fmt::format("{} ({})", v.op, v.kernel);
}

// Which rows a short table has, in order.
std::vector<size_t> chosen(const compile::CheckReport& report, bool all) {
  std::set<size_t> rows;
  std::vector<size_t> by_error;
  size_t past = 0;
  for (size_t i = 0; i < report.values.size(); ++i) {
    const CheckedValue& v = report.values[i];
    by_error.push_back(i);
    if (all || report.values.size() <= kShortTable || v.is_output || (!v.within && ++past <= kMostPast)) rows.insert(i);
  }
  std::ranges::stable_sort(by_error, std::greater(), [&](size_t i) { return report.values[i].difference.relative(); });
  for (size_t i = 0; i < std::min(kWorst, by_error.size()); ++i) rows.insert(by_error[i]);
  return {rows.begin(), rows.end()};
}

std::string joined(const std::vector<std::string>& texts, size_t most = 12) {
  std::string out;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i == most) return out + fmt::format(" and {} more", texts.size() - most);
    out += (i == 0 ? "" : ", ") + one_line(texts[i], kLongestName);
  }
  return out;
}

// JSON has no infinity.
nlohmann::ordered_json number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

nlohmann::ordered_json row_json(const CheckedValue& v) {
  const ValueDifference& d = v.difference;
  return {{"value", v.name},
          {"op", v.op},
          {"kernel", v.kernel},
          {"type", v.type},
          {"within", v.within},
          {"output", v.is_output},
          {"max_abs_error", number(d.max_abs)},
          {"mean_abs_error", number(d.mean_abs)},
          {"relative_error", number(d.relative())},
          {"range", number(d.range)},
          {"nans", d.nans},
          {"infinities", d.infinities},
          {"unequal", d.unequal},
          {"mismatch", d.mismatch},
          {"channels_last", d.channels_last},
          {"sources", v.sources},
          {"inputs", v.inputs}};
}

}  // namespace

std::string verdict_text(const Checked& checked) {
  const compile::CheckReport& report = checked.report;
  std::string counts = fmt::format("{} values compared with {}", report.values.size(), checked.against);
  if (report.not_compared > 0) counts += fmt::format(", {} have no counterpart there", report.not_compared);
  if (!report.unlike.empty()) counts += fmt::format(", {} are arranged otherwise there", report.unlike.size());
  const std::string bound =
      fmt::format("{:g} of the range + {:g}", checked.tolerance.relative, checked.tolerance.absolute);
  if (!report.first) return fmt::format("{}; all are within {}\n", counts, bound);
  const CheckedValue& first = report.values[*report.first];
  const auto past = std::ranges::count(report.values, false, &CheckedValue::within);
  std::string text = fmt::format("{}; {} past {}\n", counts, past == 1 ? "1 is" : fmt::format("{} are", past), bound);
  text += fmt::format("the first is %{}: {}\n", one_line(first.name, kLongestName), difference_text(first.difference));
  text += fmt::format("  layer   {}  {}\n", layer_text(first), first.type);
  if (!first.sources.empty()) text += fmt::format("  of      {}\n", joined(first.sources));
  for (const std::string& name : first.inputs)
    if (const CheckedValue* in = report.find(name); in != nullptr)
      text += fmt::format("  input   %{}: {}\n", one_line(name, kLongestName), difference_text(in->difference));
  return text;
}

std::string check_text(const Checked& checked, bool all) {
  const compile::CheckReport& report = checked.report;
  Table table({{"value"},
               {"layer"},
               {"type"},
               {"max error", Table::Align::right},
               {"of range", Table::Align::right},
               {"verdict"}});
  const std::vector<size_t> rows = chosen(report, all);
  for (const size_t i : rows) {
    const CheckedValue& v = report.values[i];
    const ValueDifference& d = v.difference;
    std::string verdict = v.within ? "within" : i == report.first ? "FIRST PAST" : "past";
    if (d.nans > 0 || d.infinities > 0) verdict += fmt::format(", {} NaN or infinite", d.nans + d.infinities);
    if (d.unequal > 0) verdict += fmt::format(", {} of {} differ", d.unequal, d.elements);
    if (!d.mismatch.empty()) verdict = d.mismatch;
    if (v.is_output) verdict += " (output)";
    table.add_row({one_line(v.name, kLongestName), layer_text(v), v.type, fmt::format("{:.3g}", d.max_abs),
                   fmt::format("{:.3g}", d.relative()), verdict});
  }
  std::string text = table.markdown();
  if (rows.size() < report.values.size())
    text += fmt::format("{} values more are within; --all lists them\n", report.values.size() - rows.size());
  return text + verdict_text(checked);
}

nlohmann::ordered_json check_json(const Checked& checked) {
  const compile::CheckReport& report = checked.report;
  nlohmann::ordered_json values = nlohmann::ordered_json::array();
  for (const CheckedValue& v : report.values) values.push_back(row_json(v));
  return {{"model", checked.model},
          {"against", checked.against},
          {"rtol", checked.tolerance.relative},
          {"atol", checked.tolerance.absolute},
          {"within", !report.first.has_value()},
          {"first", report.first ? row_json(report.values[*report.first]) : nlohmann::ordered_json()},
          {"not_compared", report.not_compared},
          {"arranged_otherwise", report.unlike},
          {"values", std::move(values)}};
}

}  // namespace nereid::cli
