// SPDX-License-Identifier: Apache-2.0
// einsum: sums of products over labelled dimensions. Operands are multiplied in pairs from the left, and a label is
// summed over as soon as nothing later needs it.
#include <algorithm>
#include <map>

#include "ops/einsum_equation.h"
#include "ops/shape_rule.h"
#include "ops/wide.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x", .variadic = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {{"equation", AttrSpec::Kind::kString, "",
                                "the labels of each operand, then -> those of "
                                "the result"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  if (ctx.inputs.empty()) return invalid_argument("there are no operands");
  std::vector<int> ranks;
  for (size_t i = 0; i < ctx.inputs.size(); ++i) {
    ranks.push_back(rule.rank(i));
    if (!is_float(rule.type(i).dtype) && !is_integer(rule.type(i).dtype))
      return invalid_argument("{} should be numbers", rule.describe(i));
    if (rule.type(i).dtype != rule.type(0).dtype)
      return invalid_argument("{} and {} should have one element type", rule.describe(0), rule.describe(i));
  }
  NEREID_TRY(const EinsumEquation equation, parse_einsum(ctx.attrs.text("equation"), ranks));
  std::map<int, Dim> sizes;
  for (size_t i = 0; i < equation.terms.size(); ++i) {
    for (size_t d = 0; d < equation.terms[i].size(); ++d) {
      const Dim& dim = rule.shape(i)[static_cast<int>(d)];
      const auto [at, fresh] = sizes.emplace(equation.terms[i][d], dim);
      if (fresh || dim == Dim(1)) continue;
      const auto both = at->second == Dim(1) ? dim : merge(at->second, dim);
      if (!both)
        return invalid_argument("a label of dimension {} of {} is {} elsewhere", d, rule.describe(i),
                                at->second.to_string());
      at->second = *both;
    }
  }
  std::vector<Dim> dims;
  for (int label : equation.result) dims.push_back(sizes.at(label));
  return std::vector<TensorType>{{rule.type(0).dtype, Shape(std::move(dims))}};
}

template <typename T>
struct Operand {
  std::vector<int> labels;
  std::vector<int64_t> sizes;
  Elements<T> values;
};

// How far apart elements are that differ in a label; a repeated label walks the diagonal, size 1 stays where it is.
template <typename T>
int64_t stride_of(const Operand<T>& x, int label) {
  int64_t stride = 1;
  int64_t sum = 0;
  for (size_t d = x.labels.size(); d-- > 0;) {
    if (x.labels[d] == label && x.sizes[d] != 1) sum += stride;
    stride *= x.sizes[d];
  }
  return sum;
}

// The product of a and b, summed over all labels but `kept`.
template <typename T>
Result<Operand<T>> contract(const Operand<T>& a, const Operand<T>& b, const std::vector<int>& kept) {
  std::map<int, int64_t> sizes;
  for (const Operand<T>* x : {&a, &b})
    for (size_t d = 0; d < x->labels.size(); ++d) {
      int64_t& size = sizes.emplace(x->labels[d], 1).first->second;
      if (x->sizes[d] != 1) size = x->sizes[d];
    }
  Operand<T> y;
  std::vector<int> order = kept;
  for (const auto& [label, size] : sizes)
    if (std::ranges::count(kept, label) == 0) order.push_back(label);
  std::vector<int64_t> all;
  std::vector<int64_t> step_a, step_b;
  for (int label : order) {
    all.push_back(sizes.at(label));
    step_a.push_back(stride_of(a, label));
    step_b.push_back(stride_of(b, label));
  }
  y.labels = kept;
  y.sizes.assign(all.begin(), all.begin() + static_cast<ptrdiff_t>(kept.size()));
  const auto elements = checked_product(y.sizes);
  if (!elements || *elements > int64_t{1} << 32) return exhausted("an intermediate result is too large");
  const auto steps = checked_product(all);
  if (!steps) return exhausted("there are too many products to add");
  y.values = Elements<T>(*elements);
  if (*steps == 0) return y;
  const int64_t summed = *steps / *elements;
  std::vector<int64_t> index(all.size(), 0);
  int64_t ia = 0, ib = 0;
  for (int64_t i = 0; i < *steps; ++i) {
    T& sum = y.values[i / summed];
    sum = wide_add(sum, wide_multiply(a.values[ia], b.values[ib]));
    for (size_t d = all.size(); d-- > 0;) {
      ia += step_a[d];
      ib += step_b[d];
      if (++index[d] < all[d]) break;
      ia -= step_a[d] * all[d];
      ib -= step_b[d] * all[d];
      index[d] = 0;
    }
  }
  return y;
}

Status evaluate(const EvalContext& ctx) {
  std::vector<int> ranks;
  for (const ConstTensorView& x : ctx.inputs) ranks.push_back(x.rank());
  NEREID_TRY(const EinsumEquation equation, parse_einsum(ctx.attrs.text("equation"), ranks));
  // The labels of `candidates` that operands from `next` on or the result need.
  const auto needed = [&](const std::vector<int>& candidates, size_t next) {
    std::vector<int> kept;
    for (int label : candidates) {
      bool wanted = std::ranges::count(equation.result, label) > 0;
      for (size_t i = next; i < equation.terms.size(); ++i) wanted |= std::ranges::count(equation.terms[i], label) > 0;
      if (wanted && std::ranges::count(kept, label) == 0) kept.push_back(label);
    }
    return kept;
  };
  return with_wide(ctx.outputs[0].dtype, [&]<typename T>() {
    Operand<T> product{{}, {}, Elements<T>(1, T(1))};
    for (size_t i = 0; i < ctx.inputs.size(); ++i) {
      const Operand<T> x{equation.terms[i], ctx.inputs[i].sizes, load<T>(ctx.inputs[i])};
      std::vector<int> labels = product.labels;
      labels.insert(labels.end(), x.labels.begin(), x.labels.end());
      const bool last = i + 1 == ctx.inputs.size();
      auto next = contract(product, x, last ? equation.result : needed(labels, i + 1));
      if (!next.is_ok()) return next.status();
      product = std::move(next).value();
    }
    return store<T>(ctx.outputs[0], product.values);
  });
}

}  // namespace

extern constexpr OpDef kEinsum = {.name = "einsum",
                                  .summary = "y = sum of products over the labels that the result does not name",
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .attrs = kAttrs,
                                  .infer = infer,
                                  .evaluate = evaluate};

}  // namespace nereid::ops
