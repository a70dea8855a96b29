// SPDX-License-Identifier: Apache-2.0
// Optionals: a tensor or sequence that may be missing. One that is there is held as itself (ops/datum.h).
#include "ops/any_inputs.h"
#include "ops/elements.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kMaybeInputs[] = {{.name = "x", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"dtype", AttrSpec::Kind::kString, "f32", "without x: the element type of what is missing"},
    {"sequence", AttrSpec::Kind::kBool, "false", "without x: what is missing is a sequence"}};

bool has_x(const InferContext& ctx) {
  return !ctx.inputs.empty() && ctx.inputs[0] != nullptr;
}

Result<std::vector<TensorType>> infer_optional(const InferContext& ctx) {
  if (has_x(ctx)) {
    TensorType type = *ctx.inputs[0];
    if (type.container != Container::kNone && type.container != Container::kSequence)
      return invalid_argument("x is {} and should be a tensor or a sequence of tensors", type.to_string());
    type.container = type.is_tensor() ? Container::kOptional : Container::kOptionalSequence;
    return std::vector<TensorType>{type};
  }
  const auto dtype = dtype_from_name(ctx.attrs.text("dtype"));
  if (!dtype) return invalid_argument("there is no element type '{}'", ctx.attrs.text("dtype"));
  return std::vector<TensorType>{
      {.dtype = *dtype,
       .shape = Shape::unranked(),
       .container = ctx.attrs.boolean("sequence") ? Container::kOptionalSequence : Container::kOptional}};
}

Result<std::vector<Datum>> evaluate_optional(const AnyContext& ctx) {
  NEREID_TRY(const auto types, infer_data(ctx, infer_optional, true));
  if (ctx.inputs.empty() || ctx.inputs[0] == nullptr) return one_result(Datum::none(types[0].dtype));
  return one_result(*ctx.inputs[0]);
}

Result<std::vector<TensorType>> infer_get(const InferContext& ctx) {
  TensorType type = *ctx.inputs[0];
  if (type.container == Container::kOptional) type.container = Container::kNone;
  if (type.container == Container::kOptionalSequence) type.container = Container::kSequence;
  return std::vector<TensorType>{type};
}

Result<std::vector<Datum>> evaluate_get(const AnyContext& ctx) {
  if (ctx.inputs[0]->kind == Datum::Kind::kNone) return invalid_argument("x is an optional with nothing in it");
  return one_result(*ctx.inputs[0]);
}

Result<std::vector<TensorType>> infer_has(const InferContext&) {
  return std::vector<TensorType>{{DType::boolean, Shape()}};
}

Result<std::vector<Datum>> evaluate_has(const AnyContext& ctx) {
  NEREID_TRY(Tensor y, Tensor::zeros(DType::boolean, {}));
  const bool there = !ctx.inputs.empty() && ctx.inputs[0] != nullptr && ctx.inputs[0]->kind != Datum::Kind::kNone;
  *y.view().as<uint8_t>() = there;
  return one_result(std::move(y));
}

}  // namespace

extern constexpr OpDef kOptional = {.name = "optional",
                                    .summary = "x as something that may be missing; without x: missing",
                                    .inputs = kMaybeInputs,
                                    .outputs = kOutputs,
                                    .attrs = kAttrs,
                                    .infer = infer_optional,
                                    .evaluate_any = evaluate_optional,
                                    .infers_any = true};

extern constexpr OpDef kOptionalGetElement = {.name = "optional_get_element",
                                              .summary = "what is in x; refused if nothing is",
                                              .inputs = kInputs,
                                              .outputs = kOutputs,
                                              .attrs = {},
                                              .infer = infer_get,
                                              .evaluate_any = evaluate_get,
                                              .infers_any = true};

extern constexpr OpDef kOptionalHasElement = {.name = "optional_has_element",
                                              .summary = "whether there is anything in x",
                                              .inputs = kMaybeInputs,
                                              .outputs = kOutputs,
                                              .attrs = {},
                                              .infer = infer_has,
                                              .evaluate_any = evaluate_has,
                                              .infers_any = true};

}  // namespace nereid::ops
