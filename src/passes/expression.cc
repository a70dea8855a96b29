// SPDX-License-Identifier: Apache-2.0
// Taking products and polynomials apart.
#include "passes/expression.h"

#include <cmath>

namespace nereid::passes {
namespace {

using graph::Node;
using graph::ValueId;
using Polynomial = std::map<int, double>;

constexpr int kDeepest = 12;

Polynomial times(const Polynomial& a, const Polynomial& b) {
  Polynomial out;
  for (const auto& [i, x] : a)
    for (const auto& [j, y] : b) out[i + j] += x * y;
  return out;
}

}  // namespace

bool close(double a, double b, double tolerance) {
  return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

const Node* Expression::inner(ValueId v, std::string_view op) const {
  const Node* node = edit_.made_by(v, op);
  if (node == nullptr || v == root_ || edit_.graph().is_output(v)) return v == root_ ? node : nullptr;
  return edit_.graph().users(v).size() == 1 ? node : nullptr;
}

void Expression::collect(ValueId v, Product& out, int depth) const {
  if (depth < kDeepest) {
    if (const Node* mul = inner(v, "mul")) {
      for (size_t i : {0, 1})
        if (const auto c = edit_.scalar(mul->inputs[i])) {
          out.coefficient *= *c;
          return collect(mul->inputs[1 - i], out, depth + 1);
        }
      collect(mul->inputs[0], out, depth + 1);
      return collect(mul->inputs[1], out, depth + 1);
    }
    if (const Node* div = inner(v, "div"))
      if (const auto c = edit_.scalar(div->inputs[1]); c && *c != 0) {
        out.coefficient /= *c;
        return collect(div->inputs[0], out, depth + 1);
      }
  }
  out.factors.push_back(v);
}

Product Expression::product(ValueId v) const {
  Product out;
  collect(v, out, 0);
  return out;
}

std::optional<Polynomial> Expression::polynomial(ValueId v, ValueId x, int depth) const {
  if (v == x) return Polynomial{{1, 1.0}};
  if (const auto c = edit_.scalar(v)) return Polynomial{{0, *c}};
  const Node* node = edit_.maker(v);
  if (node == nullptr || depth > kDeepest) return std::nullopt;
  const std::string_view op = node->op->name;
  const auto of = [&](size_t i) { return polynomial(node->inputs[i], x, depth + 1); };
  if (op == "neg") {
    const auto a = of(0);
    return a ? std::optional(times(*a, {{0, -1.0}})) : std::nullopt;
  }
  if (op == "pow") {
    const auto a = of(0);
    const auto power = edit_.scalar(node->inputs[1]);
    if (!a || !power || (*power != 2 && *power != 3)) return std::nullopt;
    return *power == 2 ? times(*a, *a) : times(times(*a, *a), *a);
  }
  if (op != "add" && op != "sub" && op != "mul" && op != "div") return std::nullopt;
  const auto a = of(0), b = of(1);
  if (!a || !b) return std::nullopt;
  if (op == "mul") return times(*a, *b);
  if (op == "div") {
    if (b->size() != 1 || b->begin()->first != 0 || b->begin()->second == 0) return std::nullopt;
    return times(*a, {{0, 1 / b->begin()->second}});
  }
  Polynomial out = *a;
  for (const auto& [power, c] : *b) out[power] += op == "add" ? c : -c;
  return out;
}

bool Expression::is_linear(ValueId v, ValueId x, double coefficient, double constant) const {
  auto p = polynomial(v, x);
  if (!p) return false;
  for (const auto& [power, c] : *p)
    if (power > 1 && c != 0) return false;
  return close((*p)[1], coefficient) && (constant == 0 ? std::abs((*p)[0]) < 1e-6 : close((*p)[0], constant));
}

}  // namespace nereid::passes
