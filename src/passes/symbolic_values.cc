// SPDX-License-Identifier: Apache-2.0
// Small tensors of integers as lists of sizes: what shape, gather, concat, arithmetic and the like make of them.
#include <algorithm>

#include "ops/dim_product.h"
#include "passes/symbolic.h"

namespace nereid::passes {
namespace {

using graph::Node;
using graph::ValueId;

constexpr int64_t kMostKnownValues = 64;

// Elements start, start + step, ... before end of a list.
std::optional<std::vector<Dim>> cut(const std::vector<Dim>& list, int64_t start, int64_t end, int64_t step) {
  const auto n = static_cast<int64_t>(list.size());
  if (step < 1) return std::nullopt;
  start = std::clamp<int64_t>(start < 0 ? start + n : start, 0, n);
  end = std::clamp<int64_t>(end < 0 ? end + n : end, 0, n);
  std::vector<Dim> out;
  for (int64_t i = start; i < end; i += step) out.push_back(list[static_cast<size_t>(i)]);
  return out;
}

}  // namespace

// add, sub, mul, div of lists of one length, or of a list and one number.
std::optional<std::vector<Dim>> Symbolic::arithmetic(const Node& node) {
  const std::string_view op = node.op->name;
  const List *a = values(node.inputs[0]), *b = values(node.inputs[1]);
  if (a == nullptr || b == nullptr || (a->size() != b->size() && a->size() != 1 && b->size() != 1)) return std::nullopt;
  List out;
  for (size_t i = 0; i < std::max(a->size(), b->size()); ++i) {
    const Dim& x = (*a)[a->size() == 1 ? 0 : i];
    const Dim& y = (*b)[b->size() == 1 ? 0 : i];
    const std::string key = fmt::format("{} {} {}", x.to_string(), op, y.to_string());
    if (x.is_static() && y.is_static()) {
      int64_t result = 0;
      bool overflows = false;
      if (op == "add") overflows = __builtin_add_overflow(x.size(), y.size(), &result);
      if (op == "sub") overflows = __builtin_sub_overflow(x.size(), y.size(), &result);
      if (op == "mul") overflows = __builtin_mul_overflow(x.size(), y.size(), &result);
      if (op == "div") {
        if (y.size() == 0 || y.size() == -1) return std::nullopt;
        result = x.size() / y.size();
      }
      if (overflows) return std::nullopt;
      out.emplace_back(result);
    } else if (op == "mul") {
      ops::DimProduct product;
      product.multiply(x);
      product.multiply(y);
      const auto size = product.fits ? ops::quotient(product, {}) : Result<Dim>(Dim::unknown());
      out.push_back(size.is_ok() && !size->is_unknown() ? *size : named_number(key));
    } else if (op == "div") {
      ops::DimProduct all, part;
      all.multiply(x);
      part.multiply(y);
      const auto size = ops::quotient(all, part);
      if (size.is_ok() && !size->is_unknown()) {
        out.push_back(*size);
      } else {
        out.push_back(is_size(x) && is_size(y) ? named(key) : named_number(key));
      }
    } else if ((op == "sub" && y == Dim(0)) || (op == "add" && y == Dim(0))) {
      out.push_back(x);
    } else if (op == "add" && x == Dim(0)) {
      out.push_back(y);
    } else if (op == "sub" && x == y) {
      out.emplace_back(0);
    } else {
      out.push_back(op == "add" && is_size(x) && is_size(y) ? named(key) : named_number(key));
    }
  }
  return out;
}

std::optional<std::vector<Dim>> Symbolic::compute(const Node& node, size_t output) {
  const ops::TensorType& type = edit_.type(node.outputs[output]);
  const std::string_view op = node.op->name;
  if (!type.is_tensor() || !(is_integer(type.dtype) || type.dtype == DType::boolean) ||
      type.shape.elements().value_or(kMostKnownValues + 1) > kMostKnownValues)
    return std::nullopt;
  const auto list = [&](size_t i) { return i < node.inputs.size() ? values(node.inputs[i]) : nullptr; };
  if (op == "shape") {
    const Shape& x = edit_.type(node.inputs[0]).shape;
    if (!x.is_ranked() || std::ranges::any_of(x.dims(), &Dim::is_unknown)) return std::nullopt;
    const int64_t n = x.rank();
    int64_t start = node.attrs.has("start") ? node.attrs.integer("start") : 0;
    start = std::clamp<int64_t>(start < 0 ? start + n : start, 0, n);
    List out(x.dims().begin() + start, x.dims().end());
    out.resize(std::min(out.size(), static_cast<size_t>(*type.shape.elements())), Dim(0));
    return out;
  }
  if (op == "size") {
    const auto size = ops::quotient(ops::DimProduct(edit_.type(node.inputs[0]).shape.dims()), {});
    if (!edit_.is_ranked(node.inputs[0]) || !size.is_ok() || size->is_unknown()) return std::nullopt;
    return List{*size};
  }
  if (op == "identity" || op == "unsqueeze" || op == "squeeze" || op == "reshape" || op == "reshape_to" ||
      op == "flatten" || op == "cast") {
    if (op == "cast" && edit_.type(node.inputs[0]).dtype == DType::boolean) return std::nullopt;
    if (type.dtype == DType::boolean) return std::nullopt;
    const List* x = list(0);
    return x != nullptr ? std::optional(*x) : std::nullopt;
  }
  if (op == "concat") {
    List out;
    if (type.shape.rank() != 1) return std::nullopt;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const List* part = list(i);
      if (part == nullptr) return std::nullopt;
      out.insert(out.end(), part->begin(), part->end());
    }
    return out;
  }
  if (op == "gather" && edit_.rank(node.inputs[0]) == 1) {
    const List *x = list(0), *at = list(1);
    if (x == nullptr || at == nullptr) return std::nullopt;
    List out;
    for (const Dim& d : *at) {
      if (!d.is_static()) return std::nullopt;
      const int64_t i = d.size() < 0 ? d.size() + static_cast<int64_t>(x->size()) : d.size();
      if (i < 0 || i >= static_cast<int64_t>(x->size())) return std::nullopt;
      out.push_back((*x)[static_cast<size_t>(i)]);
    }
    return out;
  }
  if (op == "slice" && edit_.rank(node.inputs[0]) == 1) {
    const List* x = list(0);
    const auto start = edit_.integers(node.inputs[1]), end = edit_.integers(node.inputs[2]);
    const auto step = node.inputs[4].valid() ? edit_.integers(node.inputs[4]) : std::optional(std::vector<int64_t>{1});
    if (x == nullptr || !start || !end || !step || start->size() != 1 || end->size() != 1 || step->size() != 1)
      return std::nullopt;
    return cut(*x, (*start)[0], (*end)[0], (*step)[0]);
  }
  if (op == "split_along" && edit_.rank(node.inputs[0]) == 1) {
    const List* x = list(0);
    if (x == nullptr) return std::nullopt;
    int64_t from = 0;
    for (size_t i = 0; i < output; ++i) from += edit_.type(node.outputs[i]).shape[0].size();
    return cut(*x, from, from + type.shape[0].size(), 1);
  }
  if (op == "add" || op == "sub" || op == "mul" || op == "div") return arithmetic(node);
  if (op == "constant_of_shape") {
    const List* one = list(1);
    if (one == nullptr || one->size() != 1) return std::nullopt;
    return List(static_cast<size_t>(*type.shape.elements()), (*one)[0]);
  }
  if (op == "equal") {
    const List *a = list(0), *b = list(1);
    if (a == nullptr || b == nullptr || (a->size() != b->size() && b->size() != 1)) return std::nullopt;
    List out;
    for (size_t i = 0; i < a->size(); ++i) {
      const Dim &x = (*a)[i], &y = (*b)[b->size() == 1 ? 0 : i];
      if (x == y && !x.is_unknown()) {
        out.emplace_back(1);
      } else if ((x.is_static() && y.is_static()) || (is_size(x) && y.is_static() && y.size() < 0)) {
        out.emplace_back(0);
      } else {
        return std::nullopt;
      }
    }
    return out;
  }
  if (op == "where") {
    const auto it = node.inputs[0].valid() ? values_.find(node.inputs[0].v) : values_.end();
    const List *a = list(1), *b = list(2);
    if (it == values_.end() || a == nullptr || b == nullptr) return std::nullopt;
    const auto n = static_cast<size_t>(*type.shape.elements());
    const auto at = [&](const List& l, size_t i) { return l.size() == 1 ? l[0] : l[i]; };
    for (size_t size : {it->second.size(), a->size(), b->size()})
      if (size != 1 && size != n) return std::nullopt;
    List out;
    for (size_t i = 0; i < n; ++i) out.push_back(at(it->second, i) == Dim(1) ? at(*a, i) : at(*b, i));
    return out;
  }
  return std::nullopt;
}

}  // namespace nereid::passes
