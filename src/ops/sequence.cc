// SPDX-License-Identifier: Apache-2.0
// Sequences: made of tensors, added to, taken from, counted.
#include "ops/any_inputs.h"
#include "ops/elements.h"
#include "ops/move.h"

namespace nereid::ops {
namespace {

enum : size_t { kSequence, kPosition };
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

bool is_sequence(const TensorType& type) {
  return type.container == Container::kSequence || type.container == Container::kSequenceOfMaps;
}

Status check_sequence(const InferContext& ctx) {
  if (is_sequence(*ctx.inputs[kSequence])) return Status::ok();
  return invalid_argument("the first input is {} and should be a sequence", ctx.inputs[kSequence]->to_string());
}

Status check_position(const InferContext& ctx, size_t i) {
  if (i >= ctx.inputs.size() || ctx.inputs[i] == nullptr) return Status::ok();
  const TensorType& type = *ctx.inputs[i];
  const bool one = !type.shape.is_static() || type.shape.elements() == 1;
  if (type.is_tensor() && one && (type.dtype == DType::i32 || type.dtype == DType::i64)) return Status::ok();
  return invalid_argument("the position is {} and should be one i32 or i64", type.to_string());
}

// The position counted from the start, when there are n places.
Result<size_t> position_of(const AnyContext& ctx, size_t i, size_t places) {
  const int64_t at = load<int64_t>(ctx.inputs[i]->view())[0];
  const auto n = static_cast<int64_t>(places);
  if (at < -n || at >= n) return invalid_argument("the position is {}, but there are {} to choose from", at, n);
  return static_cast<size_t>(at < 0 ? at + n : at);
}

bool has(const AnyContext& ctx, size_t i) {
  return i < ctx.inputs.size() && ctx.inputs[i] != nullptr;
}

constexpr ArgSpec kConstructInputs[] = {{.name = "x", .variadic = true}};
constexpr AttrSpec kConstructAttrs[] = {
    {"dtype", AttrSpec::Kind::kString, "f32", "the element type of a sequence of nothing; else it is that of the x"}};

Result<std::vector<TensorType>> infer_construct(const InferContext& ctx) {
  if (ctx.inputs.empty()) {
    const auto dtype = dtype_from_name(ctx.attrs.text("dtype"));
    if (!dtype) return invalid_argument("there is no element type '{}'", ctx.attrs.text("dtype"));
    return std::vector<TensorType>{{.dtype = *dtype, .shape = Shape::unranked(), .container = Container::kSequence}};
  }
  TensorType type = *ctx.inputs[0];
  for (size_t i = 0; i < ctx.inputs.size(); ++i) {
    if (!ctx.inputs[i]->is_tensor() || ctx.inputs[i]->dtype != type.dtype)
      return invalid_argument("x[{}] is {} and should be a tensor of {}", i, ctx.inputs[i]->to_string(),
                              dtype_name(type.dtype));
    type.shape = common_shape(type.shape, ctx.inputs[i]->shape);
  }
  type.container = Container::kSequence;
  return std::vector<TensorType>{type};
}

Result<std::vector<Datum>> evaluate_construct(const AnyContext& ctx) {
  NEREID_TRY(const auto types, infer_data(ctx, infer_construct, true));
  std::vector<Datum> items;
  for (const Datum* x : ctx.inputs) items.push_back(*x);
  return one_result(Datum::sequence(types[0].dtype, std::move(items)));
}

constexpr ArgSpec kInsertInputs[] = {{.name = "sequence"}, {.name = "x"}, {.name = "position", .optional = true}};

Result<std::vector<TensorType>> infer_insert(const InferContext& ctx) {
  NEREID_RETURN_IF_ERROR(check_sequence(ctx));
  NEREID_RETURN_IF_ERROR(check_position(ctx, 2));
  TensorType type = *ctx.inputs[kSequence];
  const TensorType& x = *ctx.inputs[1];
  if (!x.is_tensor() || x.dtype != type.dtype || type.container != Container::kSequence)
    return invalid_argument("x is {} and should be a tensor to go into a {}", x.to_string(), type.to_string());
  type.shape = common_shape(type.shape, x.shape);
  return std::vector<TensorType>{type};
}

Result<std::vector<Datum>> evaluate_insert(const AnyContext& ctx) {
  NEREID_RETURN_IF_ERROR(infer_data(ctx, infer_insert, true));
  Datum sequence = *ctx.inputs[kSequence];
  size_t at = sequence.items.size();
  if (has(ctx, 2)) {
    // -n is the place of the first, n the one after the last.
    const int64_t given = load<int64_t>(ctx.inputs[2]->view())[0];
    const auto n = static_cast<int64_t>(at);
    if (given < -n || given > n)
      return invalid_argument("the position is {}, but the sequence has {} elements", given, n);
    at = static_cast<size_t>(given < 0 ? given + n : given);
  }
  sequence.items.insert(sequence.items.begin() + static_cast<ptrdiff_t>(at), *ctx.inputs[1]);
  return one_result(std::move(sequence));
}

constexpr ArgSpec kEraseInputs[] = {{.name = "sequence"}, {.name = "position", .optional = true}};

Result<std::vector<TensorType>> infer_erase(const InferContext& ctx) {
  NEREID_RETURN_IF_ERROR(check_sequence(ctx));
  NEREID_RETURN_IF_ERROR(check_position(ctx, kPosition));
  return std::vector<TensorType>{*ctx.inputs[kSequence]};
}

Result<std::vector<Datum>> evaluate_erase(const AnyContext& ctx) {
  NEREID_RETURN_IF_ERROR(infer_data(ctx, infer_erase, true));
  Datum sequence = *ctx.inputs[kSequence];
  if (sequence.items.empty()) return invalid_argument("nothing can be taken from an empty sequence");
  size_t at = sequence.items.size() - 1;
  if (has(ctx, kPosition)) {
    NEREID_TRY(at, position_of(ctx, kPosition, sequence.items.size()));
  }
  sequence.items.erase(sequence.items.begin() + static_cast<ptrdiff_t>(at));
  return one_result(std::move(sequence));
}

constexpr ArgSpec kAtInputs[] = {{.name = "sequence"}, {.name = "position"}};

Result<std::vector<TensorType>> infer_at(const InferContext& ctx) {
  NEREID_RETURN_IF_ERROR(check_sequence(ctx));
  NEREID_RETURN_IF_ERROR(check_position(ctx, kPosition));
  TensorType type = *ctx.inputs[kSequence];
  type.container = type.container == Container::kSequence ? Container::kNone : Container::kMap;
  return std::vector<TensorType>{type};
}

Result<std::vector<Datum>> evaluate_at(const AnyContext& ctx) {
  NEREID_RETURN_IF_ERROR(infer_data(ctx, infer_at, true));
  const std::vector<Datum>& items = ctx.inputs[kSequence]->items;
  NEREID_TRY(const size_t at, position_of(ctx, kPosition, items.size()));
  return one_result(items[at]);
}

constexpr ArgSpec kLengthInputs[] = {{.name = "sequence"}};

Result<std::vector<TensorType>> infer_length(const InferContext& ctx) {
  NEREID_RETURN_IF_ERROR(check_sequence(ctx));
  return std::vector<TensorType>{{DType::i64, Shape()}};
}

Result<std::vector<Datum>> evaluate_length(const AnyContext& ctx) {
  NEREID_RETURN_IF_ERROR(infer_data(ctx, infer_length, true));
  NEREID_TRY(Tensor y, Tensor::zeros(DType::i64, {}));
  *y.view().as<int64_t>() = static_cast<int64_t>(ctx.inputs[kSequence]->items.size());
  return one_result(std::move(y));
}

}  // namespace

extern constexpr OpDef kSequenceAt = {.name = "sequence_at",
                                      .summary = "the element of the sequence at the position; -1 is the last",
                                      .inputs = kAtInputs,
                                      .outputs = kOutputs,
                                      .attrs = {},
                                      .infer = infer_at,
                                      .evaluate_any = evaluate_at,
                                      .infers_any = true};

extern constexpr OpDef kSequenceConstruct = {.name = "sequence_construct",
                                             .summary = "the inputs as a sequence",
                                             .inputs = kConstructInputs,
                                             .outputs = kOutputs,
                                             .attrs = kConstructAttrs,
                                             .infer = infer_construct,
                                             .evaluate_any = evaluate_construct,
                                             .infers_any = true};

extern constexpr OpDef kSequenceErase = {.name = "sequence_erase",
                                         .summary = "the sequence without the element at the position (else: the last)",
                                         .inputs = kEraseInputs,
                                         .outputs = kOutputs,
                                         .attrs = {},
                                         .infer = infer_erase,
                                         .evaluate_any = evaluate_erase,
                                         .infers_any = true};

extern constexpr OpDef kSequenceInsert = {.name = "sequence_insert",
                                          .summary = "the sequence with x before the position (else: at its end)",
                                          .inputs = kInsertInputs,
                                          .outputs = kOutputs,
                                          .attrs = {},
                                          .infer = infer_insert,
                                          .evaluate_any = evaluate_insert,
                                          .infers_any = true};

extern constexpr OpDef kSequenceLength = {.name = "sequence_length",
                                          .summary = "how many elements the sequence has",
                                          .inputs = kLengthInputs,
                                          .outputs = kOutputs,
                                          .attrs = {},
                                          .infer = infer_length,
                                          .evaluate_any = evaluate_length,
                                          .infers_any = true};

}  // namespace nereid::ops
