// SPDX-License-Identifier: Apache-2.0
// reshape_to and flatten: the same elements in row-major order under sizes that are an input, or as a matrix.
#include "ops/dim_product.h"
#include "ops/move.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kShape };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "shape"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"allowzero", AttrSpec::Kind::kBool, "false", "a 0 in shape is a size of 0, not x's size in that place"}};

// The sizes, those that come from x unknown.
Shape shape_without_x(const std::vector<int64_t>& wanted, bool allow_zero) {
  std::vector<Dim> dims;
  for (int64_t size : wanted) dims.push_back(size > 0 || (size == 0 && allow_zero) ? Dim(size) : Dim::unknown());
  return Shape(std::move(dims));
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  for (size_t i : {kX, kShape})
    if (!rule.type(i).is_tensor()) return invalid_argument("{} should be a tensor", rule.describe(i));
  if (!rule.shape(kShape).is_ranked()) return std::vector<TensorType>{{rule.type(kX).dtype, Shape::unranked()}};
  NEREID_RETURN_IF_ERROR(is_movable(rule, kX));
  NEREID_RETURN_IF_ERROR(rule.is_index(kShape));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kShape, 1));
  const DType dtype = rule.type(kX).dtype;
  NEREID_TRY(const Shape open_shape, shape_of_rank(rule.dim(kShape, 0)));
  const auto wanted = known_integers(ctx, kShape);
  if (!wanted) return std::vector<TensorType>{{dtype, open_shape}};
  if (!rule.shape(kX).is_ranked())
    return std::vector<TensorType>{{dtype, shape_without_x(*wanted, ctx.attrs.boolean("allowzero"))}};

  std::vector<Dim> dims;
  DimProduct all;    // of what is not copied from place to place
  DimProduct given;  // by numbers
  std::vector<bool> copied(static_cast<size_t>(rule.rank(kX)), false);
  int open = -1;
  bool zero = false;
  for (size_t i = 0; i < wanted->size(); ++i) {
    const int64_t size = (*wanted)[i];
    if (size < -1) return invalid_argument("shape[{}] is {}, which is no size", i, size);
    if (size == -1) {
      if (open >= 0) return invalid_argument("shape has -1 in places {} and {}; it may stand once", open, i);
      open = static_cast<int>(i);
      dims.emplace_back(1);
    } else if (size == 0 && !ctx.attrs.boolean("allowzero")) {
      if (static_cast<int>(i) >= rule.rank(kX))
        return invalid_argument("shape[{}] is 0, but {} has no such dimension", i, rule.describe(kX));
      copied[i] = true;
      dims.push_back(rule.dim(kX, static_cast<int>(i)));
    } else {
      zero |= size == 0;
      dims.emplace_back(size);
      given.multiply(dims.back());
    }
  }
  if (zero && open >= 0) return invalid_argument("shape has both 0 and -1, so the size for -1 is undefined");
  for (int d = 0; d < rule.rank(kX); ++d)
    if (!copied[static_cast<size_t>(d)]) all.multiply(rule.dim(kX, d));
  if (!all.fits || !given.fits) return invalid_argument("{} or its new shape has too many elements", rule.describe(kX));
  const auto rest = quotient(all, given);
  if (open >= 0) {
    if (!rest && all.is_static())
      return rest.status().with(
          fmt::format("{} cannot take the shape {}", rule.describe(kX), Shape::of(*wanted).to_string()));
    dims[static_cast<size_t>(open)] = rest ? *rest : Dim::unknown();
  } else if (all.is_static() && all.factor != given.factor) {
    return invalid_argument("{} has not as many elements as the shape {}", rule.describe(kX),
                            Shape::of(*wanted).to_string());
  }
  return std::vector<TensorType>{{dtype, Shape(std::move(dims))}};
}

Status evaluate(const EvalContext& ctx) {
  return copy_all(ctx.outputs[0], ctx.inputs[kX]);
}

constexpr ArgSpec kFlattenInputs[] = {{.name = "x"}};
constexpr AttrSpec kFlattenAttrs[] = {
    {"axis", AttrSpec::Kind::kInt, "1", "how many dimensions the rows are made of; negative counts from the end"}};

Result<Dim> product_of(std::span<const Dim> dims) {
  const DimProduct product(dims);
  if (!product.fits) return invalid_argument("the product of the dimensions does not fit 63 bits");
  auto dim = quotient(product, {});
  return dim ? std::move(dim).value() : Dim::unknown();
}

Result<std::vector<TensorType>> infer_flatten(const InferContext& ctx) {
  ShapeRule rule(ctx, kFlattenInputs);
  NEREID_RETURN_IF_ERROR(is_movable(rule, 0));
  const int64_t axis = ctx.attrs.integer("axis");
  if (axis < -rule.rank(0) || axis > rule.rank(0))
    return invalid_argument("axis is {}, but {} has {} dimensions", axis, rule.describe(0), rule.rank(0));
  const auto at = static_cast<size_t>(axis < 0 ? axis + rule.rank(0) : axis);
  const std::span<const Dim> dims = rule.shape(0).dims();
  NEREID_TRY(Dim rows, product_of(dims.first(at)));
  NEREID_TRY(Dim columns, product_of(dims.subspan(at)));
  return std::vector<TensorType>{{rule.type(0).dtype, Shape{rows, columns}}};
}

}  // namespace

extern constexpr OpDef kReshapeTo = {.name = "reshape_to",
                                     .summary =
                                         "x's elements in order under the sizes in shape; 0: x's size in that "
                                         "place, -1 (once): what is left",
                                     .inputs = kInputs,
                                     .outputs = kOutputs,
                                     .attrs = kAttrs,
                                     .infer = infer,
                                     .evaluate = evaluate,
                                     .cost = cost_per_element<0>,
                                     .infers_any = true};

extern constexpr OpDef kFlatten = {.name = "flatten",
                                   .summary = "x's elements in order as a matrix",
                                   .inputs = kFlattenInputs,
                                   .outputs = kOutputs,
                                   .attrs = kFlattenAttrs,
                                   .infer = infer_flatten,
                                   .evaluate = evaluate,
                                   .cost = cost_per_element<0>};

}  // namespace nereid::ops
