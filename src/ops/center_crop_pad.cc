// SPDX-License-Identifier: Apache-2.0
// center_crop_pad: the middle of a tensor, cut or filled up with zeros to given sizes.
#include <algorithm>

#include "ops/elements.h"
#include "ops/move.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kSizes };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "shape"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {{"axes", AttrSpec::Kind::kInts, "[]", "the dimensions that shape is about; empty: all"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(is_movable(rule, kX));
  NEREID_RETURN_IF_ERROR(rule.is_index(kSizes));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kSizes, 1));
  const std::vector<int64_t>& given = ctx.attrs.integers("axes");
  NEREID_TRY(const auto axes, wrap_axes(given.empty() ? every_place(rule.rank(kX)) : given, rule.rank(kX), "axes"));
  NEREID_RETURN_IF_ERROR(rule.has_size(kSizes, 0, static_cast<int64_t>(axes.size()), "one size a dimension of axes"));
  const auto sizes = known_integers(ctx, kSizes);
  std::vector<Dim> dims = rule.shape(kX).dims();
  for (size_t i = 0; i < axes.size(); ++i) {
    if (sizes && (*sizes)[i] < 0) return invalid_argument("shape[{}] is {}, which is no size", i, (*sizes)[i]);
    dims[axes[i]] = sizes ? Dim((*sizes)[i]) : Dim::unknown();
  }
  return std::vector<TensorType>{{rule.type(kX).dtype, Shape(std::move(dims))}};
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[kX];
  const TensorView& y = ctx.outputs[0];
  if (y.elements() == 0) return Status::ok();
  std::vector<std::vector<int64_t>> at;
  for (size_t d = 0; d < x.sizes.size(); ++d) {
    // Halves are rounded down: what is odd is cut, or put, at the end.
    const int64_t crop = x.sizes[d] > y.sizes[d] ? (x.sizes[d] - y.sizes[d]) / 2 : 0;
    const int64_t pad = x.sizes[d] < y.sizes[d] ? (y.sizes[d] - x.sizes[d]) / 2 : 0;
    at.emplace_back();
    for (int64_t i = 0; i < y.sizes[d]; ++i) {
      const int64_t place = i - pad + crop;
      at.back().push_back(place < x.sizes[d] ? std::max<int64_t>(place, -1) : -1);
    }
  }
  copy_by_places(y, x, at);
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kCenterCropPad = {.name = "center_crop_pad",
                                         .summary = "the middle of x, cut or padded with zeros to the sizes in shape",
                                         .inputs = kInputs,
                                         .outputs = kOutputs,
                                         .attrs = kAttrs,
                                         .infer = infer,
                                         .evaluate = evaluate,
                                         .cost = cost_per_element<0>};

}  // namespace nereid::ops
