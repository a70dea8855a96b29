// SPDX-License-Identifier: Apache-2.0
// cast: the same numbers in another element type, texts included. Floats become integers by rounding towards zero,
// within range where the type has a byte or more; integers keep their low bits; bool is whether a number is not 0.
#include <string>

#include "ops/elementwise.h"
#include "ops/number_text.h"
#include "ops/numeric.h"
#include "ops/op.h"
#include "ops/round_float.h"

namespace nereid::ops {
namespace {

using Kind = AttrSpec::Kind;
constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"dtype", Kind::kString, "", "the result's element type"},
    {"round_mode", Kind::kString, "up", "to which power of two in f8e8m0: up, down or nearest"},
    {"saturate", Kind::kBool, "true", "whether the f8 kinds take the largest number for what is larger"},
};

bool is_castable(DType d) {
  const auto kind = dtype_info(d).kind;
  return kind != DTypeInfo::Kind::kComplex && kind != DTypeInfo::Kind::kBlock;
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  const std::string& name = ctx.attrs.text("dtype");
  auto dtype = dtype_from_name(name);
  if (!dtype) return invalid_argument("there is no element type '{}'", name);
  if (!is_castable(*dtype)) return unsupported("a cast to {} is not known", name);
  if (!is_castable(rule.type(0).dtype) && !rule.is_weight(0)) return unsupported("{} cannot be cast", rule.describe(0));
  const std::string& mode = ctx.attrs.text("round_mode");
  if (!scale_rounding_from_name(mode))
    return invalid_argument("round_mode is '{}' and should be up, down or nearest", mode);
  return std::vector<TensorType>{{*dtype, rule.shape(0)}};
}

DType dtype_of(const InferContext& ctx, size_t) {
  return dtype_from_name(ctx.attrs.text("dtype")).value_or(DType::f32);
}

// True for the words true and false in any case.
bool truth_from_text(std::string_view text, bool& value) {
  std::string lower(text.substr(0, 6));
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  value = lower == "true";
  return value || lower == "false";
}

// Reads every text as T; f gives a Result.
template <typename T, typename F>
Status read_texts(const EvalContext& ctx, Elements<T>& values, F&& f) {
  const auto* texts = ctx.inputs[0].as<std::string>();
  for (int64_t i = 0; i < values.size(); ++i) {
    NEREID_TRY(values[i], f(texts[i]));
  }
  return Status::ok();
}

// A number narrower than f32 is rounded once.
Status store_floats(const TensorView& y, const Elements<double>& values, const Attrs& attrs) {
  if (y.dtype == DType::f32 || !is_float(y.dtype) || bits_of(y.dtype) > 32) return store<double>(y, values);
  Elements<float> odd(values.size());
  for (int64_t i = 0; i < odd.size(); ++i) odd[i] = round_to_odd(values[i]);
  store_rounded(y, odd,
                {.saturate = attrs.boolean("saturate"), .scale = *scale_rounding_from_name(attrs.text("round_mode"))});
  return Status::ok();
}

Status from_texts(const EvalContext& ctx) {
  const TensorView& y = ctx.outputs[0];
  const int64_t n = y.elements();
  if (is_integer(y.dtype)) {
    Elements<int64_t> values(n);
    NEREID_RETURN_IF_ERROR(read_texts(ctx, values, whole_from_text));
    return store<int64_t>(y, values);
  }
  Elements<double> values(n);
  const bool wants_truth = y.dtype == DType::boolean;
  NEREID_RETURN_IF_ERROR(read_texts(ctx, values, [&](const std::string& text) -> Result<double> {
    bool truth = false;
    if (wants_truth && truth_from_text(text, truth)) return truth ? 1.0 : 0.0;
    return number_from_text(text);
  }));
  return store_floats(y, values, ctx.attrs);
}

Status to_texts(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[0];
  auto* texts = ctx.outputs[0].as<std::string>();
  const auto write = [&](const auto& values, auto text) {
    for (int64_t i = 0; i < values.size(); ++i) texts[i] = text(values[i]);
    return Status::ok();
  };
  if (x.dtype == DType::f64) return write(load<double>(x), [](double v) { return number_text(v); });
  if (is_float(x.dtype)) return write(load<float>(x), [](float v) { return number_text(v); });
  if (is_unsigned(x.dtype) || x.dtype == DType::boolean)
    return write(load<uint64_t>(x), [](uint64_t v) { return std::to_string(v); });
  return write(load<int64_t>(x), [](int64_t v) { return std::to_string(v); });
}

Status from_blocks(const EvalContext& ctx) {
  NEREID_TRY(const auto x, read_floats(ctx.inputs[0]));
  Elements<double> values(static_cast<int64_t>(x.size()));
  std::copy(x.begin(), x.end(), values.begin());
  return store_floats(ctx.outputs[0], values, ctx.attrs);
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[0];
  const TensorView& y = ctx.outputs[0];
  if (x.dtype == y.dtype) {
    copy_elements(y, 0, x, 0, x.elements());
    return Status::ok();
  }
  if (x.dtype == DType::string) return from_texts(ctx);
  if (y.dtype == DType::string) return to_texts(ctx);
  if (is_block_format(x.dtype)) return from_blocks(ctx);
  return with_wide(x.dtype, [&]<typename T>() {
    if (is_float(y.dtype) && bits_of(y.dtype) < 32) return store_floats(y, load<double>(x), ctx.attrs);
    return store<T>(y, load<T>(x));
  });
}

}  // namespace

extern constexpr OpDef kCast = {.name = "cast",
                                .summary = "the same numbers as another element type",
                                .inputs = kInputs,
                                .outputs = kOutputs,
                                .attrs = kAttrs,
                                .infer = infer,
                                .evaluate = evaluate,
                                .cost = cost_per_element<1>,
                                .dtype_of = dtype_of};

}  // namespace nereid::ops
