// SPDX-License-Identifier: Apache-2.0
// Test support: tensors for a graph's inputs, states and constants, and the comparison of what two graphs compute.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "graph/evaluate.h"
#include "ops/tensor.h"

namespace nereid::passes {

struct TensorRules {
  std::map<std::string, int64_t> sizes;                 // of symbols; others are 3
  std::map<std::string, std::vector<double>> bindings;  // of values by name; other integers are 0, other floats normal
};

// Made once and bound to both graphs. The seed is fixed: a failure is the same on every machine with one library.
class RandomTensors {
 public:
  explicit RandomTensors(TensorRules rules) : rules_(std::move(rules)) {}

  ops::Tensor make(const graph::Value& v) {
    std::vector<int64_t> sizes;
    for (const Dim& d : v.type.shape.dims()) sizes.push_back(d.is_static() ? d.size() : symbol(d.symbol()));
    int64_t n = 1;
    for (int64_t s : sizes) n *= s;
    std::vector<double> numbers(static_cast<size_t>(n), 0);
    if (auto it = rules_.bindings.find(v.name); it != rules_.bindings.end()) {
      EXPECT_EQ(it->second.size(), numbers.size()) << v.name;
      numbers = it->second;
      numbers.resize(static_cast<size_t>(n));
    } else if (!is_integer(v.type.dtype)) {
      std::normal_distribution<double> normal;
      for (double& x : numbers) x = normal(random_);
    }
    return ops::Tensor::of(v.type.dtype, std::move(sizes), numbers);
  }

  // Inputs and states by name; constants without data get theirs, which lives as long as this object.
  void fill(graph::Graph& g) {
    for (graph::ValueId id : g.inputs()) inputs.emplace(g.value(id).name, make(g.value(id)));
    for (graph::ValueId id : g.states()) states.emplace(g.value(id).name, make(g.value(id)));
    for (graph::ValueId id : g.constants()) {
      if (!g.value(id).data.parts.empty()) continue;
      auto [it, fresh] = constants_.emplace(g.value(id).name, make(g.value(id)));
      g.bind_constant(id, {.parts = {std::as_const(it->second).view()}});
    }
  }

  // The graph's outputs, then the states it leaves behind. Starts from fresh states every time.
  std::vector<ops::Tensor> results(const graph::Graph& g) const {
    std::map<std::string, ops::Tensor> left = states;
    graph::Bindings bindings;
    for (const auto& [name, t] : inputs) bindings.inputs[name] = t.view();
    for (auto& [name, t] : left) bindings.states[name] = t.view();
    auto out = graph::evaluate(g, bindings);
    EXPECT_TRUE(out.is_ok()) << out.status().message();
    if (!out.is_ok()) return {};
    for (auto& [name, t] : left) out->push_back(t);
    return std::move(out).value();
  }

  std::map<std::string, ops::Tensor> inputs, states;

 private:
  int64_t symbol(const std::string& name) const {
    auto it = rules_.sizes.find(name);
    return it == rules_.sizes.end() ? 3 : it->second;
  }
  TensorRules rules_;
  std::map<std::string, ops::Tensor> constants_;
  std::mt19937 random_{42};
};

// The largest tolerance of the ops in either graph: a share of each result's largest magnitude.
inline double tolerance_of(const graph::Graph& a, const graph::Graph& b) {
  double t = 0;
  for (const graph::Graph* g : {&a, &b})
    for (graph::NodeId n : g->order()) t = std::max(t, g->node(n).op->tolerance_f32);
  return t;
}

inline void expect_equal(const std::vector<ops::Tensor>& a, const std::vector<ops::Tensor>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].sizes, b[i].sizes);
    const auto x = a[i].numbers();
    const auto y = b[i].numbers();
    double largest = 0;
    for (double v : x) largest = std::max(largest, std::abs(v));
    for (size_t j = 0; j < x.size(); ++j)
      ASSERT_NEAR(x[j], y[j], tolerance * largest) << "result " << i << ", element " << j;
  }
}

}  // namespace nereid::passes
