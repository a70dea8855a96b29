// SPDX-License-Identifier: Apache-2.0
// unique: the different slices of a tensor along one dimension, sorted or in order of appearance.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "ops/any_inputs.h"
#include "ops/elements.h"
#include "ops/move.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}, {.name = "indices"}, {.name = "inverse_indices"}, {.name = "counts"}};
constexpr AttrSpec kAttrs[] = {
    {"axis", AttrSpec::Kind::kInt, "", "the dimension of the slices; negative counts from the end"},
    {"sorted", AttrSpec::Kind::kBool, "true", "ascending, else in the order in which they first appear"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(is_movable(rule, 0));
  if (dtype_info(rule.type(0).dtype).kind == DTypeInfo::Kind::kComplex)
    return unsupported("{} has elements without an order", rule.describe(0));
  NEREID_RETURN_IF_ERROR(rule.has_axis(0, ctx.attrs.integer("axis")));
  const int64_t axis = ctx.attrs.integer("axis");
  const auto along = static_cast<int>(axis < 0 ? axis + rule.rank(0) : axis);
  const Dim whole = rule.dim(0, along);
  TensorType y = rule.type(0);
  y.shape[along] = Dim::unknown();
  const TensorType count{DType::i64, Shape{Dim::unknown()}};
  return std::vector<TensorType>{y, count, {DType::i64, Shape{whole}}, count};
}

DType dtype_of(const InferContext& ctx, size_t output) {
  return output == 0 ? ctx.inputs[0]->dtype : DType::i64;
}

// Not-a-numbers are one another's equals and come last.
template <typename T>
int compare(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return static_cast<int>(std::isnan(a)) - static_cast<int>(std::isnan(b));
  }
  return a < b ? -1 : b < a ? 1 : 0;
}

struct Groups {
  std::vector<int64_t> first;    // of each group, the first slice
  std::vector<int64_t> inverse;  // of each slice, its group
  std::vector<int64_t> counts;
};

// Groups of equal slices, ascending; `slice_order(i, j)` compares slices i and j.
template <typename F>
Groups group(int64_t slices, bool sorted, F&& slice_order) {
  std::vector<int64_t> order(static_cast<size_t>(slices));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int64_t i, int64_t j) { return slice_order(i, j) < 0; });
  Groups groups;
  groups.inverse.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || slice_order(order[i - 1], order[i]) != 0) {
      groups.first.push_back(order[i]);
      groups.counts.push_back(0);
    }
    ++groups.counts.back();
    groups.inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(groups.first.size()) - 1;
  }
  if (sorted) return groups;
  std::vector<size_t> appearance(groups.first.size());
  std::iota(appearance.begin(), appearance.end(), size_t{0});
  std::ranges::sort(appearance, {}, [&](size_t g) { return groups.first[g]; });
  Groups out;
  std::vector<int64_t> renamed(appearance.size());
  for (size_t g : appearance) {
    renamed[g] = static_cast<int64_t>(out.first.size());
    out.first.push_back(groups.first[g]);
    out.counts.push_back(groups.counts[g]);
  }
  for (int64_t g : groups.inverse) out.inverse.push_back(renamed[static_cast<size_t>(g)]);
  return out;
}

template <typename T>
Groups group_elements(const T* x, const AxisSteps& steps, bool sorted) {
  return group(steps.size, sorted, [&](int64_t i, int64_t j) {
    for (int64_t outer = 0; outer < steps.outer; ++outer)
      for (int64_t inner = 0; inner < steps.inner; ++inner) {
        const int64_t row = outer * steps.size;
        const int order = compare(x[(row + i) * steps.inner + inner], x[(row + j) * steps.inner + inner]);
        if (order != 0) return order;
      }
    return 0;
  });
}

Tensor list_of(const std::vector<int64_t>& values) {
  Tensor t = Tensor::zeros(DType::i64, {static_cast<int64_t>(values.size())}).value();
  std::ranges::copy(values, t.view().as<int64_t>());
  return t;
}

Result<std::vector<Datum>> evaluate(const AnyContext& ctx) {
  NEREID_RETURN_IF_ERROR(infer_data(ctx, infer));
  const ConstTensorView x = ctx.inputs[0]->view();
  const bool sorted = ctx.attrs.boolean("sorted");
  const AxisSteps steps = axis_steps(x.sizes, ctx.attrs.integer("axis"));
  Groups groups;
  if (x.elements() == 0) {
    if (steps.size > 0) return unsupported("slices without elements are not told apart");
  } else if (x.dtype == DType::string) {
    groups = group_elements(x.as<std::string>(), steps, sorted);
  } else {
    NEREID_RETURN_IF_ERROR(with_element(x.dtype, [&]<typename T>() {
      const Elements<T> values = load<T>(x);
      groups = group_elements(values.data(), steps, sorted);
      return Status::ok();
    }));
  }
  const int64_t axis = ctx.attrs.integer("axis");
  const auto along = static_cast<size_t>(axis < 0 ? axis + x.rank() : axis);
  std::vector<int64_t> sizes = x.sizes;
  sizes[along] = static_cast<int64_t>(groups.first.size());
  NEREID_TRY(Tensor y, Tensor::zeros(x.dtype, std::move(sizes)));
  if (y.view().elements() > 0) {
    std::vector<std::vector<int64_t>> at;
    for (size_t d = 0; d < x.sizes.size(); ++d) at.push_back(d == along ? groups.first : every_place(x.sizes[d]));
    copy_by_places(y.view(), x, at);
  }
  std::vector<Datum> results;
  results.emplace_back(std::move(y));
  for (const auto* list : {&groups.first, &groups.inverse, &groups.counts}) results.emplace_back(list_of(*list));
  return results;
}

}  // namespace

extern constexpr OpDef kUnique = {.name = "unique",
                                  .summary =
                                      "the different slices of x along the axis; for each its first index and "
                                      "how often it occurs, for each slice of x which it is",
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .attrs = kAttrs,
                                  .infer = infer,
                                  .cost = cost_per_element<8>,
                                  .evaluate_any = evaluate,
                                  .dtype_of = dtype_of};

}  // namespace nereid::ops
