// SPDX-License-Identifier: Apache-2.0
// Scalar formulas in graphs, however their products and sums are written: what recognises activations.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "passes/edit.h"

namespace nereid::passes {

// coefficient times all factors; a factor is an activation-shaped value that is no product or quotient by a constant.
struct Product {
  double coefficient = 1;
  std::vector<graph::ValueId> factors;
};

class Expression {
 public:
  // Nodes under `root` are looked through only if nothing outside reads them.
  Expression(const Edit& edit, graph::ValueId root) : edit_(edit), root_(root) {}

  Product product(graph::ValueId v) const;
  // v as a polynomial of x with constant coefficients: power -> coefficient. Nothing if it is none, or reads others.
  std::optional<std::map<int, double>> polynomial(graph::ValueId v, graph::ValueId x, int depth = 0) const;
  // Whether v is coefficient * x + constant with these numbers.
  bool is_linear(graph::ValueId v, graph::ValueId x, double coefficient, double constant = 0) const;
  // A node of this op whose result only the expression reads.
  const graph::Node* inner(graph::ValueId v, std::string_view op) const;

 private:
  void collect(graph::ValueId v, Product& out, int depth) const;
  const Edit& edit_;
  graph::ValueId root_;
};

bool close(double a, double b, double tolerance = 1e-3);

}  // namespace nereid::passes
