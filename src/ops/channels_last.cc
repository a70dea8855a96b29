// SPDX-License-Identifier: Apache-2.0
// Moving the channel, and running a channels-first op on channels-last values.
#include "ops/channels_last.h"

#include <algorithm>

#include "ops/attr_text.h"
#include "ops/move.h"
#include "ops/run.h"

namespace nereid::ops {
namespace {

template <typename List>
List to_first(List list) {
  if (list.size() > 2) std::rotate(list.begin() + 1, list.end() - 1, list.end());
  return list;
}
template <typename List>
List to_last(List list) {
  if (list.size() > 2) std::rotate(list.begin() + 1, list.begin() + 2, list.end());
  return list;
}

Tensor permuted(const ConstTensorView& x, std::vector<int64_t> sizes, std::span<const int64_t> steps) {
  Tensor y{x.dtype, std::move(sizes), std::vector<std::byte>(static_cast<size_t>(x.bytes())), {}};
  copy_by_steps(y.view(), x, steps);
  return y;
}

}  // namespace

Shape channels_first(const Shape& last) {
  return Shape(to_first(last.dims()));
}
Shape channels_last(const Shape& first) {
  return Shape(to_last(first.dims()));
}
Tensor channels_first(const ConstTensorView& last) {
  return permuted(last, to_first(last.sizes), to_first(row_major_steps(last.sizes)));
}
Tensor channels_last(const ConstTensorView& first) {
  return permuted(first, to_last(first.sizes), to_last(row_major_steps(first.sizes)));
}

Attrs attrs_for(const OpDef& op, const Attrs& attrs) {
  Attrs out;
  for (const auto& [name, value] : attrs.values())
    if (std::ranges::find(op.attrs, name, &AttrSpec::name) != op.attrs.end()) out.set(name, value);
  return out;
}

Result<std::vector<TensorType>> infer_as(std::string_view name, const InferContext& ctx, size_t inputs) {
  const OpDef& op = *find_op(name);
  Attrs attrs = attrs_for(op, ctx.attrs);
  NEREID_RETURN_IF_ERROR(complete_attrs(op, attrs));
  TensorType x = *ctx.inputs[0];
  x.shape = channels_first(x.shape);
  std::vector<const TensorType*> types(ctx.inputs.begin(), ctx.inputs.begin() + static_cast<ptrdiff_t>(inputs));
  types[0] = &x;
  const std::vector<const ConstTensorView*> constants(inputs, nullptr);
  NEREID_TRY(auto results, op.infer({.inputs = types, .constants = constants, .attrs = attrs}));
  for (TensorType& type : results) type.shape = channels_last(type.shape);
  return results;
}

Result<Tensor> run_as(std::string_view name, const EvalContext& ctx, size_t inputs) {
  const OpDef& op = *find_op(name);
  Attrs attrs = attrs_for(op, ctx.attrs);
  NEREID_RETURN_IF_ERROR(complete_attrs(op, attrs));
  const Tensor x = channels_first(ctx.inputs[0]);
  std::vector<ConstTensorView> views(ctx.inputs.begin(), ctx.inputs.begin() + static_cast<ptrdiff_t>(inputs));
  views[0] = x.view();
  NEREID_TRY(auto results, run(op, views, {}, attrs));
  return channels_last(std::as_const(results[0]).view());
}

}  // namespace nereid::ops
