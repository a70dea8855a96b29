// SPDX-License-Identifier: Apache-2.0
#include "compile/graph_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/text.h"
#include "ops/attr_text.h"
#include "ops/tensor.h"

namespace nereid::compile {
namespace {

constexpr int64_t kMostNumbers = 16;  // of a constant that are written out
constexpr size_t kMostText = 400;     // characters of a string in a constant, or of an attribute

std::string shortened(std::string text) {
  if (text.size() <= kMostText) return text;
  text.resize(kMostText);
  return text + "...";
}

// "[1, 2.5]"; empty: too many, or of a kind that has no plain numbers.
std::string data_text(const graph::Value& v) {
  if (v.data.parts.size() != 1 || v.data.parts[0].elements() > kMostNumbers) return {};
  const ConstTensorView& view = v.data.parts[0];
  std::vector<std::string> items;
  if (view.dtype == DType::string) {
    for (int64_t i = 0; i < view.elements(); ++i) items.push_back(ops::quote(shortened(view.as<std::string>()[i])));
  } else if (view.dtype == DType::c64 || view.dtype == DType::c128) {
    return {};
  } else {
    for (const double number : ops::Tensor::copy(view).numbers()) items.push_back(fmt::format("{:.9g}", number));
  }
  return view.rank() == 0 && items.size() == 1 ? items[0] : fmt::format("[{}]", fmt::join(items, ", "));
}

int64_t bytes_of(const graph::Value& v) {
  int64_t sum = 0;
  for (const ConstTensorView& part : v.data.parts) sum += part.dtype == DType::string ? 0 : part.bytes();
  if (!v.data.parts.empty() || !v.type.is_tensor()) return sum;
  const auto elements = v.type.shape.elements();
  return elements ? dtype_bytes(v.type.dtype, *elements).value_or(0) : 0;
}

class GraphWriter {
 public:
  GraphWriter(const std::string& path, const graph::Graph& g) : path_(path), g_(g), places_(g.value_count(), -1) {}

  OrderedJson write() {
    OrderedJson nodes = OrderedJson::array(), inputs = OrderedJson::array(), outputs = OrderedJson::array();
    for (const graph::ValueId id : g_.inputs()) inputs.push_back(place(id));
    for (const graph::ValueId id : g_.states()) inputs.push_back(place(id));
    for (const graph::NodeId id : g_.order()) nodes.push_back(node(g_.node(id)));
    for (const graph::ValueId id : g_.outputs()) outputs.push_back(place(id));
    return {{"path", path_},
            {"name", g_.name()},
            {"inputs", std::move(inputs)},
            {"outputs", std::move(outputs)},
            {"values", std::move(values_)},
            {"nodes", std::move(nodes)}};
  }

 private:
  int64_t place(graph::ValueId id) {
    if (!id.valid()) return -1;
    int64_t& at = places_[static_cast<size_t>(id.v)];
    if (at >= 0) return at;
    at = static_cast<int64_t>(values_.size());
    const graph::Value& v = g_.value(id);
    OrderedJson value = {{"name", v.name}, {"type", v.type.to_string()}};
    if (v.kind == graph::Value::Kind::kConstant) {
      value["bytes"] = bytes_of(v);
      if (std::string data = data_text(v); !data.empty()) value["data"] = std::move(data);
    }
    values_.push_back(std::move(value));
    return at;
  }

  OrderedJson node(const graph::Node& n) {
    OrderedJson in = OrderedJson::array(), out = OrderedJson::array(), attrs = OrderedJson::object();
    for (const graph::ValueId id : n.inputs) in.push_back(place(id));
    for (const graph::ValueId id : n.outputs) out.push_back(place(id));
    for (const auto& [name, value] : n.attrs.values()) {
      const auto spec = std::ranges::find(n.op->attrs, name, &ops::AttrSpec::name);
      std::string text = ops::attr_to_text(value);
      if (spec == n.op->attrs.end() || spec->fallback != text) attrs[name] = shortened(std::move(text));
    }
    OrderedJson json = {{"op", std::string(n.op->name)}, {"in", std::move(in)}, {"out", std::move(out)}};
    if (!attrs.empty()) json["attrs"] = std::move(attrs);
    for (size_t i = 0; i < n.regions.size() && !n.outputs.empty(); ++i)
      json["regions"].push_back(fmt::format("{}{}/{}/", path_, g_.value(n.outputs[0]).name, i));
    return json;
  }

  const std::string& path_;
  const graph::Graph& g_;
  std::vector<int64_t> places_;  // in values_, by id
  OrderedJson values_ = OrderedJson::array();
};

void visit_below(const std::string& path, const graph::Graph& g,
                 const std::function<void(const std::string&, const graph::Graph&)>& visit) {
  visit(path, g);
  for (const graph::NodeId id : g.order()) {
    const graph::Node& node = g.node(id);
    for (size_t i = 0; i < node.regions.size() && !node.outputs.empty(); ++i)
      visit_below(fmt::format("{}{}/{}/", path, g.value(node.outputs[0]).name, i), *node.regions[i], visit);
  }
}

}  // namespace

void visit_graphs(const graph::Graph& graph,
                  const std::function<void(const std::string& path, const graph::Graph& graph)>& visit) {
  visit_below("", graph, visit);
}

OrderedJson graphs_json(const graph::Graph& graph) {
  OrderedJson list = OrderedJson::array();
  visit_graphs(graph,
               [&](const std::string& path, const graph::Graph& g) { list.push_back(GraphWriter(path, g).write()); });
  return list;
}

}  // namespace nereid::compile
