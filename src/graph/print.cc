// SPDX-License-Identifier: Apache-2.0
// The printer of the text form.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "graph/text.h"
#include "ops/attr_text.h"

namespace nereid::graph {
namespace {

std::string reference(const Graph& graph, ValueId id) {
  return id.valid() ? fmt::format("%{}", name_to_text(graph.value(id).name)) : "_";
}

// A symbol that reads back as one: a word that is no number and no wildcard.
bool is_plain_symbol(std::string_view s) {
  return name_to_text(s) == s && !std::isdigit(static_cast<unsigned char>(s[0])) && s != "_" && s[0] != '.' &&
         s[0] != '$';
}

template <typename T, typename F>
std::string numbers(const ConstTensorView& view, F&& text) {
  std::vector<std::string> texts;
  for (const T& v : view.span<T>()) texts.push_back(text(v));
  return fmt::format(" = [{}]", fmt::join(texts, ", "));
}

// The numbers of a constant that is small enough and has them in one piece; else empty.
std::string literal(const Value& v, const PrintOptions& options) {
  if (v.data.parts.size() != 1 || v.data.parts[0].elements() > options.inline_elements) return {};
  auto whole = [](auto n) { return std::to_string(n); };
  switch (v.type.dtype) {
    case DType::f32:
      return numbers<float>(v.data.parts[0], [](float f) { return ops::real_to_text(f); });
    case DType::u8:
      return numbers<uint8_t>(v.data.parts[0], whole);
    case DType::i8:
      return numbers<int8_t>(v.data.parts[0], whole);
    case DType::i32:
      return numbers<int32_t>(v.data.parts[0], whole);
    case DType::i64:
      return numbers<int64_t>(v.data.parts[0], whole);
    default:
      return {};
  }
}

bool is_default(const ops::OpDef& op, const std::string& name, const ops::AttrValue& value) {
  auto spec = std::ranges::find(op.attrs, name, &ops::AttrSpec::name);
  if (spec == op.attrs.end() || spec->fallback.empty()) return false;
  auto fallback = ops::attr_from_text(spec->kind, spec->fallback);
  return fallback.is_ok() && *fallback == value;
}

}  // namespace

std::string print_type(const ops::TensorType& type) {
  std::vector<std::string> dims;
  if (!type.shape.is_ranked()) dims.push_back("...");
  for (const Dim& d : type.shape.dims())
    dims.push_back(d.is_static() || is_plain_symbol(d.symbol()) ? d.to_string() : ops::quote(d.symbol()));
  return fmt::format("{}{}[{}]", ops::container_text(type), dtype_name(type.dtype), fmt::join(dims, ", "));
}

std::string print_call(const Graph& graph, NodeId id, const PrintOptions& options) {
  const Node& node = graph.node(id);
  std::vector<std::string> args;
  for (ValueId in : node.inputs) args.push_back(reference(graph, in));
  while (!args.empty() && args.back() == "_") args.pop_back();  // absent ones at the end
  std::vector<std::string> attrs;
  for (const auto& [name, value] : node.attrs.values())
    if (options.all_attributes || !is_default(*node.op, name, value))
      attrs.push_back(fmt::format("{}={}", name, ops::attr_to_text(value)));
  const std::string call = fmt::format("{}({})", node.op->name, fmt::join(args, ", "));
  return attrs.empty() ? call : fmt::format("{} {{{}}}", call, fmt::join(attrs, ", "));
}

namespace {

void print_graph(const Graph& graph, const PrintOptions& options, const std::string& indent, std::string& out) {
  auto declared = [&](ValueId id) {
    return fmt::format("{}: {}", reference(graph, id), print_type(graph.value(id).type));
  };
  out += fmt::format("{}graph {} {{\n", indent, name_to_text(graph.name()));
  for (ValueId id : graph.inputs()) out += fmt::format("{}  input {}\n", indent, declared(id));
  for (ValueId id : graph.states()) out += fmt::format("{}  state {}\n", indent, declared(id));
  for (ValueId id : graph.constants())
    out += fmt::format("{}  const {}{}\n", indent, declared(id), literal(graph.value(id), options));
  for (NodeId id : graph.order()) {
    std::vector<std::string> results;
    for (ValueId v : graph.node(id).outputs) results.push_back(declared(v));
    out += fmt::format("{}  {} = {}\n", indent, fmt::join(results, ", "), print_call(graph, id, options));
    for (const auto& region : graph.node(id).regions) print_graph(*region, options, indent + "    ", out);
  }
  std::vector<std::string> outputs;
  for (ValueId v : graph.outputs()) outputs.push_back(reference(graph, v));
  if (!outputs.empty()) out += fmt::format("{}  output {}\n", indent, fmt::join(outputs, ", "));
  out += indent + "}\n";
}

void walk(const Graph& graph, const std::string& prefix, const ConstantVisitor& visit) {
  for (ValueId id : graph.constants()) visit(prefix + graph.value(id).name, graph.value(id));
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    for (size_t r = 0; r < node.regions.size(); ++r)
      walk(*node.regions[r], fmt::format("{}{}/{}/", prefix, graph.value(node.outputs[0]).name, r), visit);
  }
}

}  // namespace

std::string print(const Graph& graph, const PrintOptions& options) {
  std::string out;
  print_graph(graph, options, "", out);
  return out;
}

bool is_inline(const Value& constant, const PrintOptions& options) {
  return !literal(constant, options).empty();
}

void visit_constants(const Graph& graph, const ConstantVisitor& visit) {
  walk(graph, "", visit);
}

}  // namespace nereid::graph
