// SPDX-License-Identifier: Apache-2.0
// top_k: the k largest or smallest elements along one dimension and where they stand; the first of equal ones first.
#include <algorithm>
#include <numeric>

#include "ops/shape_rule.h"
#include "ops/wide.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kK };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "k"}};
constexpr ArgSpec kOutputs[] = {{.name = "values"}, {.name = "indices"}};
constexpr AttrSpec kAttrs[] = {
    {"axis", AttrSpec::Kind::kInt, "-1", "the dimension that is searched; negative counts from the end"},
    {"largest", AttrSpec::Kind::kBool, "true", "the largest elements, else the smallest"},
    {"sorted", AttrSpec::Kind::kBool, "true", "results are in order; they are here in any case"}};

DType dtype_of(const InferContext& ctx, size_t output) {
  return output == 1 || ctx.inputs[kX] == nullptr ? DType::i64 : ctx.inputs[kX]->dtype;
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  const int64_t axis = ctx.attrs.integer("axis");
  NEREID_RETURN_IF_ERROR(rule.has_axis(kX, axis));
  NEREID_RETURN_IF_ERROR(rule.is_index(kK));
  const int at = static_cast<int>(axis < 0 ? axis + rule.rank(kX) : axis);
  Shape shape = rule.shape(kX);
  if (rule.shape(kK).elements().value_or(1) != 1) return invalid_argument("{} should be one number", rule.describe(kK));
  if (const auto k = known_integers(ctx, kK)) {
    if ((*k)[0] < 0 || (shape[at].is_static() && (*k)[0] > shape[at].size()))
      return invalid_argument("{} elements are wanted of dimension {} of {}", (*k)[0], at, rule.describe(kX));
    shape[at] = Dim((*k)[0]);
  } else {
    shape[at] = Dim::unknown();
  }
  return std::vector<TensorType>{{rule.type(kX).dtype, shape}, {DType::i64, shape}};
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[kX];
  const int64_t axis = ctx.attrs.integer("axis");
  const AxisSteps steps = axis_steps(x.sizes, axis);
  const int64_t k = axis_steps(ctx.outputs[0].sizes, axis).size;
  const bool largest = ctx.attrs.boolean("largest");
  return with_wide(x.dtype, [&]<typename T>() {
    const Elements<T> from = load<T>(x);
    Elements<T> values(ctx.outputs[0].elements());
    Elements<int64_t> indices(ctx.outputs[0].elements());
    std::vector<int64_t> order(static_cast<size_t>(steps.size));
    for (int64_t outer = 0; outer < steps.outer; ++outer) {
      for (int64_t inner = 0; inner < steps.inner; ++inner) {
        const T* row = from.data() + outer * steps.size * steps.inner + inner;
        const auto at = [&](int64_t i) { return row[i * steps.inner]; };
        std::iota(order.begin(), order.end(), 0);
        // Not-a-number counts as larger than all numbers.
        const auto less = [](T a, T b) { return a == a && (a < b || b != b); };
        std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t i, int64_t j) {
          const bool before = largest ? less(at(j), at(i)) : less(at(i), at(j));
          const bool after = largest ? less(at(i), at(j)) : less(at(j), at(i));
          return before || (!after && i < j);
        });
        for (int64_t i = 0; i < k; ++i) {
          const int64_t to = (outer * k + i) * steps.inner + inner;
          indices[to] = order[static_cast<size_t>(i)];
          values[to] = at(indices[to]);
        }
      }
    }
    NEREID_RETURN_IF_ERROR(store<int64_t>(ctx.outputs[1], indices));
    return store<T>(ctx.outputs[0], values);
  });
}

}  // namespace

extern constexpr OpDef kTopK = {.name = "top_k",
                                .summary = "the k largest or smallest elements along the axis, and their indices",
                                .inputs = kInputs,
                                .outputs = kOutputs,
                                .attrs = kAttrs,
                                .infer = infer,
                                .evaluate = evaluate,
                                .dtype_of = dtype_of};

}  // namespace nereid::ops
