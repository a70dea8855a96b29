// SPDX-License-Identifier: Apache-2.0
// What shape rules say about their inputs, as sentences: ranks, kinds, dimensions that must agree.
//
// Dimensions agree unless both are numbers and differ: a symbol may turn out to be anything when it is bound, and
// the rule runs again on the bound sizes. Dimension indices may be negative: -1 is the last.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "ops/op.h"

namespace nereid::ops {

class ShapeRule {
 public:
  ShapeRule(const InferContext& ctx, std::span<const ArgSpec> args) : ctx_(ctx), args_(args) {}

  bool has(size_t i) const { return i < ctx_.inputs.size() && ctx_.inputs[i] != nullptr; }
  const TensorType& type(size_t i) const { return *ctx_.inputs[i]; }
  const Shape& shape(size_t i) const { return type(i).shape; }
  int rank(size_t i) const { return shape(i).rank(); }
  const Dim& dim(size_t i, int d) const { return shape(i)[d < 0 ? d + rank(i) : d]; }
  // "x f32[tokens, 8]"; inputs beyond the declared ones belong to the last, variadic one.
  std::string describe(size_t i) const;

  Status has_rank(size_t i, int rank) const;
  Status has_rank_at_least(size_t i, int rank) const;
  Status is_activation(size_t i) const;  // f32, f64, f16 or bf16
  Status is_weight(size_t i) const;      // those or a block format
  Status is_index(size_t i) const;       // i32 or i64
  // Dimension d of input i and dimension e of input j are the same size.
  Status agree(size_t i, int d, size_t j, int e) const;
  // Dimension d of input i is this number; `why` says where the number comes from ("heads * head_dim").
  Status has_size(size_t i, int d, int64_t size, std::string_view why) const;
  // `axis` counts a dimension of input i, from its end when negative.
  Status has_axis(size_t i, int64_t axis) const;
  // Same dtype and agreeing dimensions.
  Status same_type(size_t i, size_t j) const;

 private:
  const InferContext& ctx_;
  std::span<const ArgSpec> args_;
};

// The more definite of two dimensions that agree; nothing if they are different numbers.
std::optional<Dim> merge(const Dim& a, const Dim& b);
// numpy's broadcasting of two shapes; nothing if they do not fit.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

// The shape of what may be the one or the other: sizes in which they differ are unknown, other ranks unranked.
Shape common_shape(const Shape& a, const Shape& b);

// The integers of an input that are known where the rule is asked; nothing if they are not (or are no integers).
std::optional<std::vector<int64_t>> known_integers(const InferContext& ctx, size_t input);

// A tensor seen along one axis: [outer, size, inner], row-major. The axis is valid (has_axis).
struct AxisSteps {
  int64_t outer, size, inner;
};
AxisSteps axis_steps(std::span<const int64_t> sizes, int64_t axis);

// Sizes for costs: a symbol counts as 1.
double elements_of(const TensorType& type);
double bytes_of(const TensorType& type);
// Every input read once, every output written once.
Cost traffic(const InferContext& ctx, std::span<const TensorType> outputs);

// The cost of an op that spends `Flops` on each element of its first output.
template <int Flops>
Cost cost_per_element(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost cost = traffic(ctx, outputs);
  cost.flops = Flops * elements_of(outputs[0]);
  return cost;
}

}  // namespace nereid::ops
