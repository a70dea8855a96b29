// SPDX-License-Identifier: Apache-2.0
// compress and nonzero: what a condition selects, and where the elements are that are not zero. How much that is only
// the values tell.
#include <algorithm>
#include <complex>

#include "ops/any_inputs.h"
#include "ops/elements.h"
#include "ops/move.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kCondition };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "condition"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"axis", AttrSpec::Kind::kInt, "", "the dimension along which to select; negative counts from the end"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(is_movable(rule, kX));
  NEREID_RETURN_IF_ERROR(rule.has_axis(kX, ctx.attrs.integer("axis")));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kCondition, 1));
  if (rule.type(kCondition).dtype != DType::boolean)
    return invalid_argument("{} should be bool", rule.describe(kCondition));
  std::vector<Dim> dims = rule.shape(kX).dims();
  const int64_t axis = ctx.attrs.integer("axis");
  dims[static_cast<size_t>(axis < 0 ? axis + rule.rank(kX) : axis)] = Dim::unknown();
  return std::vector<TensorType>{{rule.type(kX).dtype, Shape(std::move(dims))}};
}

Result<std::vector<Datum>> evaluate(const AnyContext& ctx) {
  NEREID_RETURN_IF_ERROR(infer_data(ctx, infer));
  const ConstTensorView x = ctx.inputs[kX]->view();
  const Elements<bool> condition = load<bool>(ctx.inputs[kCondition]->view());
  const int64_t axis = ctx.attrs.integer("axis");
  const auto along = static_cast<size_t>(axis < 0 ? axis + x.rank() : axis);
  std::vector<std::vector<int64_t>> at(x.sizes.size());
  for (int64_t i = 0; i < condition.size(); ++i) {
    if (!condition[i]) continue;
    if (i >= x.sizes[along])
      return invalid_argument("condition selects {}, but dimension {} of x has size {}", i, along, x.sizes[along]);
    at[along].push_back(i);
  }
  std::vector<int64_t> sizes = x.sizes;
  sizes[along] = static_cast<int64_t>(at[along].size());
  NEREID_TRY(Tensor y, Tensor::zeros(x.dtype, std::move(sizes)));
  if (y.view().elements() > 0) {
    for (size_t d = 0; d < at.size(); ++d)
      if (d != along) at[d] = every_place(x.sizes[d]);
    copy_by_places(y.view(), x, at);
  }
  return one_result(std::move(y));
}

constexpr ArgSpec kNonzeroInputs[] = {{.name = "x"}};

Result<std::vector<TensorType>> infer_nonzero(const InferContext& ctx) {
  ShapeRule rule(ctx, kNonzeroInputs);
  NEREID_RETURN_IF_ERROR(is_movable(rule, 0));
  // A number alone counts as a list of one.
  const int rank = std::max(rule.rank(0), 1);
  return std::vector<TensorType>{{DType::i64, Shape{Dim(rank), Dim::unknown()}}};
}

DType dtype_of_nonzero(const InferContext&, size_t) {
  return DType::i64;
}

Elements<bool> not_zero(const ConstTensorView& x) {
  if (x.dtype != DType::string && dtype_info(x.dtype).kind != DTypeInfo::Kind::kComplex) return load<bool>(x);
  Elements<bool> out(x.elements());
  if (x.dtype == DType::string) {
    for (int64_t i = 0; i < out.size(); ++i) out[i] = !x.as<std::string>()[i].empty();
  } else {
    const auto values = load<std::complex<double>>(x);
    for (int64_t i = 0; i < out.size(); ++i) out[i] = values[i] != 0.0;
  }
  return out;
}

Result<std::vector<Datum>> evaluate_nonzero(const AnyContext& ctx) {
  NEREID_RETURN_IF_ERROR(infer_data(ctx, infer_nonzero));
  ConstTensorView x = ctx.inputs[0]->view();
  if (x.sizes.empty()) x.sizes = {1};
  const Elements<bool> there = not_zero(x);
  std::vector<int64_t> found;
  for (int64_t i = 0; i < there.size(); ++i)
    if (there[i]) found.push_back(i);
  const auto count = static_cast<int64_t>(found.size());
  NEREID_TRY(Tensor y, Tensor::zeros(DType::i64, {x.rank(), count}));
  const std::vector<int64_t> steps = row_major_steps(x.sizes);
  auto* out = y.view().as<int64_t>();
  for (size_t d = 0; d < steps.size(); ++d)
    for (int64_t at : found) *out++ = at / steps[d] % x.sizes[d];
  return one_result(std::move(y));
}

}  // namespace

extern constexpr OpDef kCompress = {.name = "compress",
                                    .summary = "the slices of x along the axis for which condition is true",
                                    .inputs = kInputs,
                                    .outputs = kOutputs,
                                    .attrs = kAttrs,
                                    .infer = infer,
                                    .cost = cost_per_element<0>,
                                    .evaluate_any = evaluate};

extern constexpr OpDef kNonzero = {.name = "nonzero",
                                   .summary = "y[d, i] = coordinate d of the i-th element of x that is not zero",
                                   .inputs = kNonzeroInputs,
                                   .outputs = kOutputs,
                                   .attrs = {},
                                   .infer = infer_nonzero,
                                   .cost = cost_per_element<1>,
                                   .evaluate_any = evaluate_nonzero,
                                   .dtype_of = dtype_of_nonzero};

}  // namespace nereid::ops
