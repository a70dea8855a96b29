// SPDX-License-Identifier: Apache-2.0
// cast: the same numbers in another element type. Floats become integers by rounding towards zero, within range.
#include <cmath>

#include "ops/numeric.h"
#include "ops/op_list.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {{"dtype", AttrSpec::Kind::kString, "", "the result's element type"}};

bool is_castable(DType d) {
  switch (d) {
    case DType::f32:
    case DType::f64:
    case DType::f16:
    case DType::bf16:
    case DType::i8:
    case DType::i16:
    case DType::i32:
    case DType::i64:
    case DType::u8:
    case DType::u16:
    case DType::u32:
      return true;
    default:
      return false;
  }
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  const std::string& name = ctx.attrs.text("dtype");
  auto dtype = dtype_from_name(name);
  if (!dtype) return invalid_argument("there is no element type '{}'", name);
  if (!is_castable(*dtype)) return unsupported("a cast to {} is not known", name);
  if (!is_castable(rule.type(0).dtype) && !rule.is_weight(0)) return unsupported("{} cannot be cast", rule.describe(0));
  return std::vector<TensorType>{{*dtype, rule.shape(0)}};
}

int64_t saturate(double v, DType to) {
  const int bits = dtype_info(to).block_bytes * 8;
  const bool is_signed = to == DType::i8 || to == DType::i16 || to == DType::i32 || to == DType::i64;
  if (std::isnan(v)) return 0;
  const double limit = std::ldexp(1.0, is_signed ? bits - 1 : bits);
  if (v >= limit) return bits == 64 ? INT64_MAX : static_cast<int64_t>(limit) - 1;
  if (v <= (is_signed ? -limit : 0.0)) return is_signed ? static_cast<int64_t>(-limit) : 0;
  return static_cast<int64_t>(v);
}

Status evaluate(const EvalContext& ctx) {
  const TensorView& y = ctx.outputs[0];
  if (is_integer(ctx.inputs[0].dtype)) {
    NEREID_TRY(auto x, read_integers(ctx.inputs[0]));
    for (size_t i = 0; i < x.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      if (is_float(y.dtype)) {
        write_float(y, at, static_cast<float>(x[i]));
      } else {
        write_integer(y, at, x[i]);
      }
    }
    return Status::ok();
  }
  NEREID_TRY(auto x, read_floats(ctx.inputs[0]));
  for (size_t i = 0; i < x.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (is_float(y.dtype)) {
      write_float(y, at, x[i]);
    } else {
      write_integer(y, at, saturate(x[i], y.dtype));
    }
  }
  return Status::ok();
}

}  // namespace

constexpr OpDef kCast = {.name = "cast",
                         .summary = "the same numbers as another element type",
                         .inputs = kInputs,
                         .outputs = kOutputs,
                         .attrs = kAttrs,
                         .infer = infer,
                         .evaluate = evaluate,
                         .cost = cost_per_element<1>};

}  // namespace nereid::ops
