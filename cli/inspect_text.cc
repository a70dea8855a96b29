// SPDX-License-Identifier: Apache-2.0
#include "cli/inspect_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/progress.h"
#include "base/table.h"
#include "cli/bench_report.h"
#include "compile/mixed_build.h"

namespace nereid::cli {
namespace {

using compile::DescribedNetwork;
using compile::DescribedTensor;
using compile::DescribedTokenizer;
using compile::DescribedValue;
using compile::Description;

constexpr size_t kLongestValue = 100;

std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string plain(const Json& value) {
  return value.is_string() ? value.get_ref<const std::string&>() : dump(value);
}

std::string value_text(const DescribedValue& v) {
  if (v.count < 0) return one_line(plain(v.value), kLongestValue);
  std::string items = dump(v.value);
  items.pop_back();
  if (v.count > static_cast<int64_t>(v.value.size())) items += v.value.empty() ? "..." : ", ...";
  return fmt::format("{}] ({} items)", one_line(items, kLongestValue), v.count);
}

std::string sizes_text(const std::vector<int64_t>& sizes) {
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

void line(std::string& out, std::string_view name, std::string_view value) {
  out += fmt::format("{:<14} {}\n", name, value);
}

// "bos 1, eos 2": those that there are.
std::string ids_text(const DescribedTokenizer& t) {
  std::string out;
  const auto add = [&](std::string_view name, int64_t id) {
    if (id >= 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, id);
  };
  add("bos", t.bos_id);
  add("eos", t.eos_id);
  add("unknown", t.unknown_id);
  add("padding", t.padding_id);
  if (!t.end_of_generation.empty())
    out += fmt::format("{}ends at {}", out.empty() ? "" : ", ", fmt::join(t.end_of_generation, " "));
  return out.empty() ? "no special ids" : out;
}

void model_lines(std::string& out, const Json& model) {
  if (!model.is_object()) return;
  if (model.contains("architecture")) line(out, "architecture", plain(model.at("architecture")));
  for (const auto& [key, value] : model.items())
    if (key != "architecture") line(out, "  " + key, one_line(plain(value), kLongestValue));
}

void tokenizer_lines(std::string& out, const DescribedTokenizer& t) {
  line(out, "tokenizer",
       fmt::format("{}{}, {} tokens, {} merges, {} added, from {}", t.byte_level ? "byte-level " : "", t.model, t.vocab,
                   t.merges, t.added, t.source));
  line(out, "  ids", ids_text(t));
  line(out, "chat template",
       t.chat_template.empty()
           ? "none"
           : fmt::format("{} bytes: {}", t.chat_template.size(), one_line(t.chat_template, kLongestValue)));
  if (!t.named_templates.empty()) line(out, "  also", fmt::format("{}", fmt::join(t.named_templates, ", ")));
}

// What was measured when the engine was built, an output a line.
void accuracy_lines(std::string& out, const Json& certificate) {
  std::string text = compile::certificate_text(certificate);
  std::string_view rest = text, name = "accuracy";
  for (size_t end; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1), name = "  output")
    line(out, name, one_line(rest.substr(0, end), 2 * kLongestValue));
}

void engine_lines(std::string& out, const Description& d) {
  for (const auto& [key, value] : d.engine.items()) {
    if (key == "model") continue;
    if (key == "accuracy" && value.is_object())
      accuracy_lines(out, value);
    else
      line(out, key, one_line(plain(value), kLongestValue));
  }
  line(out, "checksums",
       !d.checks->verified ? fmt::format("not verified ({} chunks)", d.checks->chunks)
                           : fmt::format("header, sections and {} chunks of weights are sound", d.checks->chunks));
}

void network_lines(std::string& out, const DescribedNetwork& n) {
  for (const auto& [name, type] : n.inputs) line(out, "input", one_line(name, kLongestValue) + "  " + type);
  for (const auto& [name, type] : n.outputs) line(out, "output", one_line(name, kLongestValue) + "  " + type);
  if (n.operators.empty()) return;
  const int64_t refused = n.refused_nodes();
  line(out, "coverage",
       refused == 0 ? fmt::format("all {} operators ({} nodes) can be read", n.operators.size(), n.nodes)
                    : fmt::format("{} of {} nodes cannot be read", refused, n.nodes));
}

std::string operators_text(const DescribedNetwork& n) {
  Table table(
      {{"operator"}, {"domain"}, {"version", Table::Align::right}, {"nodes", Table::Align::right}, {"covered"}});
  for (const compile::DescribedOperator& op : n.operators)
    table.add_row({one_line(op.name, kLongestValue),
                   op.domain.empty() ? std::string("ai.onnx") : one_line(op.domain, kLongestValue),
                   fmt::format("{}", op.version), fmt::format("{}", op.nodes),
                   op.refusal.empty() ? std::string("yes") : "no: " + one_line(op.refusal, 200)});
  return table.markdown();
}

Json network_json(const DescribedNetwork& n) {
  const auto values = [](const std::vector<std::pair<std::string, std::string>>& list) {
    Json out = Json::array();
    for (const auto& [name, type] : list) out.push_back({{"name", name}, {"type", type}});
    return out;
  };
  Json operators = Json::array();
  for (const compile::DescribedOperator& op : n.operators)
    operators.push_back({{"domain", op.domain},
                         {"name", op.name},
                         {"version", op.version},
                         {"nodes", op.nodes},
                         {"covered", op.refusal.empty()},
                         {"refusal", op.refusal}});
  return {{"inputs", values(n.inputs)},
          {"outputs", values(n.outputs)},
          {"nodes", n.nodes},
          {"refused_nodes", n.refused_nodes()},
          {"operators", std::move(operators)}};
}

std::string summary_text(const Description& d) {
  std::string out;
  line(out, "path", d.path);
  line(out, "format", d.format);
  for (const std::string& file : d.files)
    if (file != d.path) line(out, "  file", file);
  if (d.engine.is_object()) engine_lines(out, d);
  line(out, "tensors",
       fmt::format("{}, {} ({} bytes), {} parameters, {:.3f} bits per weight", d.tensors.size(),
                   format_bytes(d.tensor_bytes), d.tensor_bytes, format_count(d.parameters), d.bits_per_weight()));
  model_lines(out, d.model);
  if (d.network) network_lines(out, *d.network);
  if (d.tokenizer) tokenizer_lines(out, *d.tokenizer);
  for (const std::string& problem : d.problems) line(out, "note", one_line(problem, 1000));
  return out;
}

std::string metadata_text(const Description& d) {
  Table table({{"key"}, {"value"}});
  for (const DescribedValue& v : d.metadata) table.add_row({one_line(v.key, kLongestValue), value_text(v)});
  return table.markdown();
}

std::string tensors_text(const Description& d) {
  const bool packed =
      std::any_of(d.tensors.begin(), d.tensors.end(), [](const DescribedTensor& t) { return !t.layout.empty(); });
  std::vector<Table::Column> columns = {{"tensor"}, {"dtype"}, {"shape"}, {"bytes", Table::Align::right}};
  if (packed) columns.push_back({"layout"});
  Table table(std::move(columns));
  for (const DescribedTensor& t : d.tensors) {
    std::vector<std::string> cells = {one_line(t.name, kLongestValue), t.dtype, sizes_text(t.sizes),
                                      fmt::format("{}", t.bytes)};
    if (packed) cells.push_back(t.layout.empty() ? "rows" : t.layout);
    table.add_row(std::move(cells));
  }
  return table.markdown();
}

Json tokenizer_json(const DescribedTokenizer& t) {
  return {{"source", t.source},
          {"model", t.model},
          {"byte_level", t.byte_level},
          {"vocab", t.vocab},
          {"merges", t.merges},
          {"added", t.added},
          {"bos_id", t.bos_id},
          {"eos_id", t.eos_id},
          {"unknown_id", t.unknown_id},
          {"padding_id", t.padding_id},
          {"end_of_generation", t.end_of_generation},
          {"chat_template", t.chat_template},
          {"named_templates", t.named_templates}};
}

}  // namespace

std::string one_line(std::string_view text, size_t most) {
  size_t end = std::min(text.size(), most);
  // Not inside a UTF-8 character: its later bytes are 10xxxxxx.
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  std::string out(text.substr(0, end));
  for (char& c : out) {
    if (c == '\n' || c == '\t')
      c = ' ';
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      c = '?';
  }
  return end < text.size() ? out + "..." : out;
}

std::string inspect_text(const Description& d, const InspectParts& parts) {
  std::string out;
  const auto add = [&](const std::string& text) { out += (out.empty() ? "" : "\n") + text; };
  if (parts.summary) add(summary_text(d));
  if (parts.summary && d.network && !d.network->operators.empty()) add(operators_text(*d.network));
  if (parts.metadata && !d.metadata.empty()) add(metadata_text(d));
  if (parts.tensors && !d.tensors.empty()) add(tensors_text(d));
  return out;
}

Json inspect_json(const Description& d, const InspectParts& parts) {
  Json out = Json::object();
  if (parts.summary) {
    out = {{"path", d.path},
           {"format", d.format},
           {"label", d.label},
           {"files", d.files},
           {"tensor_count", d.tensors.size()},
           {"tensor_bytes", d.tensor_bytes},
           {"parameters", d.parameters},
           {"bits_per_weight", d.bits_per_weight()},
           {"model", d.model},
           {"tokenizer", d.tokenizer ? tokenizer_json(*d.tokenizer) : Json()},
           {"notes", d.problems}};
    if (d.engine.is_object()) out["engine"] = d.engine;
    if (d.network) out["network"] = network_json(*d.network);
    if (d.checks) out["checks"] = {{"weight_chunks", d.checks->chunks}, {"verified", d.checks->verified}};
  }
  if (parts.metadata) {
    Json& list = out["metadata"] = Json::array();
    for (const DescribedValue& v : d.metadata) {
      list.push_back({{"key", v.key}, {"value", v.value}});
      if (v.count >= 0) list.back()["count"] = v.count;
    }
  }
  if (parts.tensors) {
    Json& list = out["tensors"] = Json::array();
    for (const DescribedTensor& t : d.tensors) {
      list.push_back({{"name", t.name}, {"dtype", t.dtype}, {"shape", t.sizes}, {"bytes", t.bytes}});
      if (!t.layout.empty()) list.back()["layout"] = t.layout;
    }
  }
  return out;
}

}  // namespace nereid::cli
