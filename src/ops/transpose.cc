// SPDX-License-Identifier: Apache-2.0
// transpose: dimensions in another order.
#include <cstring>

#include "ops/op_list.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"permutation", AttrSpec::Kind::kInts, "", "dimension i of the result is dimension permutation[i] of x"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  const std::vector<int64_t>& permutation = ctx.attrs.integers("permutation");
  NEREID_RETURN_IF_ERROR(rule.has_rank(0, static_cast<int>(permutation.size())));
  if (dtype_info(rule.type(0).dtype).block_elements != 1)
    return unsupported("{} cannot be transposed: its elements share bytes", rule.describe(0));
  std::vector<bool> seen(permutation.size(), false);
  std::vector<Dim> dims;
  for (int64_t d : permutation) {
    if (d < 0 || d >= rule.rank(0) || seen[static_cast<size_t>(d)])
      return invalid_argument("permutation should hold each of 0 to {} once, but has {} out of place", rule.rank(0) - 1,
                              d);
    seen[static_cast<size_t>(d)] = true;
    dims.push_back(rule.dim(0, static_cast<int>(d)));
  }
  return std::vector<TensorType>{{rule.type(0).dtype, Shape(std::move(dims))}};
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[0];
  const TensorView& y = ctx.outputs[0];
  const std::vector<int64_t>& permutation = ctx.attrs.integers("permutation");
  const size_t rank = permutation.size();
  std::vector<int64_t> stride(rank, 1);  // of x, in elements
  for (size_t d = rank; d-- > 1;) stride[d - 1] = stride[d] * x.sizes[d];
  const size_t element = dtype_info(x.dtype).block_bytes;
  std::vector<int64_t> index(rank, 0);  // of y
  for (int64_t i = 0; i < y.elements(); ++i) {
    int64_t from = 0;
    for (size_t d = 0; d < rank; ++d) from += index[d] * stride[static_cast<size_t>(permutation[d])];
    std::memcpy(y.as<std::byte>() + static_cast<size_t>(i) * element,
                x.as<std::byte>() + static_cast<size_t>(from) * element, element);
    for (size_t d = rank; d-- > 0;) {
      if (++index[d] < y.sizes[d]) break;
      index[d] = 0;
    }
  }
  return Status::ok();
}

}  // namespace

constexpr OpDef kTranspose = {.name = "transpose",
                              .summary = "x's dimensions in another order",
                              .inputs = kInputs,
                              .outputs = kOutputs,
                              .attrs = kAttrs,
                              .infer = infer,
                              .evaluate = evaluate,
                              .cost = cost_per_element<0>};

}  // namespace nereid::ops
