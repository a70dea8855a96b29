// SPDX-License-Identifier: Apache-2.0
// Names for sizes, and integer arithmetic on them.
#include "passes/symbolic.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/dim_product.h"
#include "ops/shape_rule.h"
#include "passes/elementwise.h"

namespace nereid::passes {
namespace {

using graph::Node;
using graph::NodeId;
using graph::ValueId;

constexpr int64_t kMostValues = 64;

std::string text_of(const std::vector<Dim>& list) {
  return Shape(list).to_string();
}

}  // namespace

Symbolic::Symbolic(Edit& edit) : edit_(edit), g_(edit.graph()) {
  for (size_t i = 0; i < g_.value_count(); ++i)
    for (const Dim& d : g_.value({static_cast<int32_t>(i)}).type.shape.dims())
      if (!d.is_static()) taken_.insert(d.symbol());
  for (ValueId in : g_.inputs()) {
    ops::TensorType type = g_.value(in).type;
    if (!type.is_tensor() || !type.shape.is_ranked()) continue;
    for (int d = 0; d < type.shape.rank(); ++d)
      if (type.shape[d].is_unknown()) type.shape[d] = named(fmt::format("input {} {}", in.v, d));
    g_.set_type(in, type);
    note_sources(in);
  }
}

void Symbolic::note_sources(ValueId v) {
  const ops::TensorType& type = g_.value(v).type;
  if (!type.is_tensor() || !type.shape.is_ranked()) return;
  for (int d = 0; d < type.shape.rank(); ++d)
    if (!type.shape[d].is_static() && !type.shape[d].is_unknown())
      sources_.emplace(type.shape[d].symbol(), Source{v, d});
}

std::optional<Symbolic::Source> Symbolic::source(const Dim& size) const {
  const auto it = size.is_static() ? sources_.end() : sources_.find(size.symbol());
  if (it == sources_.end()) return std::nullopt;
  const graph::Value& v = g_.value(it->second.value);
  const bool alive = v.kind != graph::Value::Kind::kResult || v.producer.valid();
  return alive ? std::optional(it->second) : std::nullopt;
}

void Symbolic::moved(ValueId from, ValueId to) {
  if (const auto it = values_.find(from.v); it != values_.end()) values_[to.v] = List(it->second);
  for (const Dim& d : g_.value(from).type.shape.dims())
    if (const auto it = sources_.find(d.symbol()); it != sources_.end() && it->second.value == from)
      it->second.value = to;
}

Dim Symbolic::named(const std::string& key) {
  auto it = names_.find(key);
  if (it != names_.end()) return it->second;
  std::string name;
  for (size_t i = names_.size() + 1; name.empty() || taken_.contains(name); ++i) name = fmt::format("d{}", i);
  taken_.insert(name);
  return names_.emplace(key, Dim::symbol(name)).first->second;
}

Dim Symbolic::named_number(const std::string& key) {
  const Dim d = named("number " + key);
  numbers_.insert(d.symbol());
  return d;
}

bool Symbolic::is_size(const Dim& d) const {
  if (d.is_static()) return d.size() >= 0;
  ops::DimProduct product;
  product.multiply(d);
  if (product.factor < 0) return false;
  return std::ranges::none_of(product.symbols, [&](const auto& s) { return numbers_.contains(s.first); });
}

const std::vector<Dim>* Symbolic::values(ValueId v) {
  if (!v.valid()) return nullptr;
  auto it = values_.find(v.v);
  if (it != values_.end()) return &it->second;
  const ops::TensorType& type = edit_.type(v);
  if (!type.is_tensor() || !is_integer(type.dtype) || type.shape.elements().value_or(kMostValues + 1) > kMostValues)
    return nullptr;
  const auto known = edit_.integers(v);
  if (!known) return nullptr;
  return &values_.emplace(v.v, List(known->begin(), known->end())).first->second;
}

// All that a shape rule may look at. Two nodes of one description have results of the same sizes.
std::string Symbolic::describe(const Node& node) const {
  std::string key(node.op->name);
  for (const auto& [name, value] : node.attrs.values()) key += fmt::format(" {}={}", name, ops::attr_to_text(value));
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId in = node.inputs[i];
    if (!in.valid()) {
      key += " _";
      continue;
    }
    key += " " + edit_.type(in).to_string();
    if (const auto it = values_.find(in.v); it != values_.end()) {
      key += text_of(it->second);
    } else if (const auto numbers = edit_.numbers(in, kMostValues)) {
      key += fmt::format("[{}]", fmt::join(*numbers, ","));
    } else if (i > 0 || node.op->evaluate == nullptr || !is_float(edit_.type(in).dtype) ||
               !edit_.type(in).shape.is_ranked()) {
      key += fmt::format("#{}", in.v);  // its elements may decide
    }
  }
  return key;
}

// floor((size + padding - extent) / stride) + 1 is the same for many windows: 1x1 and padded 3x3 ones with one stride.
std::string Symbolic::window_key(const Node& node, int d) const {
  const std::string_view op = node.op->name;
  const size_t axis = static_cast<size_t>(d - 2);
  if (d < 2 || (op != "conv" && op != "max_pool" && op != "average_pool") || node.attrs.text("auto_pad") != "NOTSET")
    return {};
  const Shape& x = edit_.type(node.inputs[0]).shape;
  const size_t axes = static_cast<size_t>(x.rank() - 2);
  const auto number = [&](std::string_view name, size_t i, int64_t fallback) {
    const std::vector<int64_t>& list = node.attrs.integers(name);
    return i < list.size() ? list[i] : fallback;
  };
  int64_t kernel = number("kernel_shape", axis, -1);
  if (op == "conv") {
    const Dim& size = edit_.type(node.inputs[1]).shape[d];
    if (!size.is_static()) return {};
    kernel = size.size();
  }
  if (kernel < 1 || x[d].is_unknown()) return {};
  const int64_t padding = number("pads", axis, 0) + number("pads", axes + axis, 0);
  const bool ceil = op != "conv" && node.attrs.boolean("ceil_mode");
  return fmt::format("window {} {} {} {}", x[d].to_string(), padding - (kernel - 1) * number("dilations", axis, 1) - 1,
                     number("strides", axis, 1), ceil);
}

std::optional<Shape> Symbolic::reshaped(const Node& node, const List& wanted) {
  const Shape& x = edit_.type(node.inputs[0]).shape;
  if (!x.is_ranked()) return std::nullopt;
  if (node.attrs.boolean("allowzero") && std::ranges::find(wanted, Dim(0)) != wanted.end()) return std::nullopt;
  const ops::DimProduct all(x.dims());
  ops::DimProduct known;
  List dims;
  int open = -1;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == Dim(-1)) {
      if (open >= 0) return std::nullopt;
      open = static_cast<int>(i);
      dims.emplace_back(1);
      continue;
    }
    if (wanted[i].is_static() && (wanted[i].size() < 0 || (wanted[i] == Dim(0) && static_cast<int>(i) >= x.rank())))
      return std::nullopt;
    // A difference may turn out to be 0 or -1, which mean something else.
    const Dim size = wanted[i] == Dim(0) ? x[static_cast<int>(i)] : wanted[i];
    dims.push_back(is_size(size) ? size : Dim::unknown());
    known.multiply(dims.back());
  }
  if (open >= 0 && all.fits && known.fits) {
    auto rest = ops::quotient(all, known);
    dims[static_cast<size_t>(open)] = rest.is_ok() ? *rest : Dim::unknown();
  }
  return Shape(std::move(dims));
}

// The shapes that values decide, where these are sizes and no numbers.
std::optional<Shape> Symbolic::shape_from_values(const Node& node) {
  const std::string_view op = node.op->name;
  const auto sizes_of = [&](size_t i) -> const List* {
    const List* list = i < node.inputs.size() ? values(node.inputs[i]) : nullptr;
    return list != nullptr ? list : nullptr;
  };
  if (op == "reshape_to") {
    const List* wanted = sizes_of(1);
    return wanted != nullptr ? reshaped(node, *wanted) : std::nullopt;
  }
  if (op == "constant_of_shape") {
    const List* sizes = sizes_of(0);
    if (sizes == nullptr || !std::ranges::all_of(*sizes, [&](const Dim& d) { return is_size(d); })) return std::nullopt;
    return Shape(*sizes);
  }
  if (op == "expand") {
    const List* sizes = sizes_of(1);
    const Shape& x = edit_.type(node.inputs[0]).shape;
    if (sizes == nullptr || !x.is_ranked() || !std::ranges::all_of(*sizes, [&](const Dim& d) { return is_size(d); }))
      return std::nullopt;
    return ops::broadcast(x, Shape(*sizes));
  }
  if (op == "range") {
    const List *start = sizes_of(0), *limit = sizes_of(1), *delta = sizes_of(2);
    if (start == nullptr || limit == nullptr || delta == nullptr || *start != List{0} || *delta != List{1} ||
        limit->size() != 1 || !is_size((*limit)[0]))
      return std::nullopt;
    return Shape(*limit);
  }
  if (op == "slice") return sliced(node);
  if (op == "resize" && node.inputs[3].valid() && node.attrs.integers("axes").empty() &&
      node.attrs.text("keep_aspect_ratio_policy") == "stretch") {
    const List* sizes = sizes_of(3);
    return sizes != nullptr && static_cast<int>(sizes->size()) == edit_.rank(node.inputs[0])
               ? std::optional(Shape(*sizes))
               : std::nullopt;
  }
  if (op == "resize" && node.inputs[2].valid() && node.attrs.integers("axes").empty()) {
    const auto scales = edit_.numbers(node.inputs[2], kMostValues);
    const Shape& x = edit_.type(node.inputs[0]).shape;
    if (!scales || !x.is_ranked() || static_cast<int>(scales->size()) != x.rank()) return std::nullopt;
    List dims;
    for (int d = 0; d < x.rank(); ++d) {
      const double scale = (*scales)[static_cast<size_t>(d)];
      if (scale < 1 || scale > 1024 || scale != static_cast<double>(static_cast<int64_t>(scale))) return std::nullopt;
      ops::DimProduct product;
      product.multiply(x[d]);
      product.multiply(Dim(static_cast<int64_t>(scale)));
      const auto size = ops::quotient(product, {});
      dims.push_back(size.is_ok() ? *size : Dim::unknown());
    }
    return Shape(std::move(dims));
  }
  return std::nullopt;
}

// x[:size] of a dimension of n elements: min(n, size).
std::optional<Shape> Symbolic::sliced(const Node& node) {
  const Shape& x = edit_.type(node.inputs[0]).shape;
  const List *start = values(node.inputs[1]), *end = values(node.inputs[2]);
  const auto axes = node.inputs[3].valid() ? edit_.integers(node.inputs[3]) : std::optional(std::vector<int64_t>{0});
  const auto steps = node.inputs[4].valid() ? edit_.integers(node.inputs[4]) : std::optional(std::vector<int64_t>{1});
  if (!x.is_ranked() || start == nullptr || end == nullptr || *start != List{0} || end->size() != 1 || !axes ||
      axes->size() != 1 || steps != std::vector<int64_t>{1})
    return std::nullopt;
  const Dim& size = (*end)[0];
  const int64_t axis = (*axes)[0] < 0 ? (*axes)[0] + x.rank() : (*axes)[0];
  if (size.is_static() || !is_size(size) || axis < 0 || axis >= x.rank()) return std::nullopt;
  Shape out = x;
  Dim& dim = out[static_cast<int>(axis)];
  if (dim == size) return out;
  if (!dim.is_static() || dim.size() < 2) return std::nullopt;
  const Dim least = named(fmt::format("min {} {}", dim.size(), size.to_string()));
  capped_.emplace(least.symbol(), size);
  dim = least;
  return out;
}

// A size and min(n, size) broadcast to the size: either they are equal, or the one of them is 1, and so is the other.
std::optional<Dim> Symbolic::broadcast_dim(const Node& node, int rank, int d) {
  std::optional<Dim> found;
  for (ValueId in : node.inputs) {
    if (!in.valid()) continue;
    if (!edit_.is_ranked(in)) return std::nullopt;
    const int at = d - (rank - edit_.rank(in));
    if (at < 0 || edit_.type(in).shape[at] == Dim(1)) continue;
    Dim size = edit_.type(in).shape[at];
    if (const auto it = capped_.find(size.symbol()); it != capped_.end()) size = it->second;
    if (size.is_static() || size.is_unknown() || (found && !(*found == size))) return std::nullopt;
    found = size;
  }
  return found;
}

void Symbolic::visit(NodeId id) {
  const Node& node = g_.node(id);
  if (!node.regions.empty()) return;
  const auto inferred = g_.infer_results(node, node.outputs.size());
  const std::optional<Shape> better = shape_from_values(node);
  std::string key;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId out = node.outputs[i];
    ops::TensorType type = g_.value(out).type;
    if (inferred.is_ok() && i < inferred->size()) type = merge_types(type, (*inferred)[i]).value_or(type);
    if (better && i == 0) type = merge_types(type, {type.dtype, *better}).value_or(type);
    if (type.is_tensor() && type.shape.is_ranked()) {
      for (int d = 0; d < type.shape.rank(); ++d) {
        if (!type.shape[d].is_unknown()) continue;
        if (is_elementwise(node.op->name))
          if (const auto size = broadcast_dim(node, type.shape.rank(), d)) {
            type.shape[d] = *size;
            continue;
          }
        std::string window = window_key(node, d);
        if (window.empty()) {
          if (key.empty()) key = describe(node);
          window = fmt::format("{} : {} {}", key, i, d);
        }
        type.shape[d] = named(window);
      }
    }
    g_.set_type(out, type);
    note_sources(out);
    if (auto list = compute(node, i)) values_[out.v] = std::move(*list);
  }
}

}  // namespace nereid::passes
