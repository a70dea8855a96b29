// SPDX-License-Identifier: Apache-2.0
// max_unpool: the reverse of max_pool: each element goes back to where its index says, zeros elsewhere.
#include "ops/elements.h"
#include "ops/pool.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "indices"}, {.name = "output_shape", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {kPoolKernelShape, kWindowPads, kWindowStrides};

// The sizes that the pooling of which this is the reverse started from.
Result<std::vector<Dim>> pooled_from(const Attrs& attrs, const Shape& x) {
  const std::vector<int64_t>& kernel = attrs.integers("kernel_shape");
  if (static_cast<int>(kernel.size()) != x.rank() - 2)
    return invalid_argument("kernel_shape has {} numbers and should have {}", kernel.size(), x.rank() - 2);
  NEREID_TRY(const Windows windows, read_windows(attrs, kernel));
  std::vector<Dim> dims = {x[0], x[1]};
  for (int d = 2; d < x.rank(); ++d) {
    const WindowAxis& a = windows.axes[static_cast<size_t>(d - 2)];
    if (!x[d].is_static()) {
      dims.push_back(Dim::unknown());
      continue;
    }
    int64_t size = 0;
    if (x[d].size() > (int64_t{1} << 32)) return invalid_argument("dimension {} of x is too large", d);
    size = (x[d].size() - 1) * a.stride + a.kernel - a.begin - a.end;
    if (x[d].size() == 0) size = 0;
    if (size < 0)
      return invalid_argument("the pads {} and {} cut off more than spatial axis {} has", a.begin, a.end, d - 2);
    dims.push_back(Dim(size));
  }
  return dims;
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  if (!is_float(rule.type(0).dtype) && !is_integer(rule.type(0).dtype)) return no_such_elements(rule.type(0).dtype);
  NEREID_RETURN_IF_ERROR(is_image(rule.type(0), "x"));
  NEREID_RETURN_IF_ERROR(rule.has_rank(1, rule.rank(0)));
  if (rule.type(1).dtype != DType::i64) return invalid_argument("{} should be i64", rule.describe(1));
  for (int d = 0; d < rule.rank(0); ++d) NEREID_RETURN_IF_ERROR(rule.agree(0, d, 1, d));
  NEREID_TRY(std::vector<Dim> dims, pooled_from(ctx.attrs, rule.shape(0)));
  if (rule.has(2)) {
    NEREID_RETURN_IF_ERROR(rule.has_rank(2, 1));
    NEREID_RETURN_IF_ERROR(rule.has_size(2, 0, rule.rank(0), "one size a dimension of x"));
    const auto shape = known_integers(ctx, 2);
    for (int d = 0; d < rule.rank(0); ++d) {
      const size_t i = static_cast<size_t>(d);
      if (!shape) {
        if (d > 1) dims[i] = Dim::unknown();
        continue;
      }
      const int64_t size = (*shape)[i];
      if (size < 0 || (d < 2 && dims[i].is_static() && dims[i].size() != size))
        return invalid_argument("output_shape has {} at {}, where x has {}", size, d, rule.dim(0, d).to_string());
      dims[i] = Dim(size);
    }
  }
  return std::vector<TensorType>{{rule.type(0).dtype, Shape(std::move(dims))}};
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[0];
  const Elements<int64_t> indices = load<int64_t>(ctx.inputs[1]);
  const TensorView& y = ctx.outputs[0];
  NEREID_TRY(const std::vector<Dim> dims, pooled_from(ctx.attrs, Shape::of(x.sizes)));
  // Indices count in the tensor that was pooled. The result may be larger: what was pooled is then its corner.
  std::vector<int64_t> from;
  for (const Dim& d : dims) from.push_back(d.size());
  const auto elements = checked_product(from);
  if (!elements) return invalid_argument("the tensor that was pooled is too large");
  bool fits = true;
  for (size_t d = 0; d < from.size(); ++d) fits &= from[d] <= y.sizes[d];
  if (!fits) from = y.sizes;
  const int64_t most = fits ? *elements : y.elements();
  for (int64_t i = 0; i < indices.size(); ++i) {
    int64_t rest = indices[i];
    if (rest < 0 || rest >= most)
      return invalid_argument("index {} points outside the {} elements that were pooled", rest, most);
    int64_t at = 0, stride = 1;
    for (size_t d = from.size(); d-- > 0;) {
      at += rest % from[d] * stride;
      rest /= from[d];
      stride *= y.sizes[d];
    }
    copy_elements(y, at, x, i, 1);
  }
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kMaxUnpool = {.name = "max_unpool",
                                     .summary = "y[indices[i]] = x[i], 0 elsewhere",
                                     .inputs = kInputs,
                                     .outputs = kOutputs,
                                     .attrs = kAttrs,
                                     .infer = infer,
                                     .evaluate = evaluate,
                                     .cost = cost_per_element<0>};

}  // namespace nereid::ops
