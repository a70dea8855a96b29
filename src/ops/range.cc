// SPDX-License-Identifier: Apache-2.0
// range: numbers from a start to before a limit by equal steps.
#include <cmath>
#include <type_traits>

#include "ops/elements.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

enum : size_t { kStart, kLimit, kDelta };
constexpr ArgSpec kInputs[] = {{.name = "start"}, {.name = "limit"}, {.name = "delta"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

// How many numbers there are; -1: no end to them.
template <typename T>
int64_t count_numbers(T start, T limit, T delta) {
  if constexpr (std::is_floating_point_v<T>) {
    const double n = std::ceil((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta));
    if (std::isnan(n) || n > 0x1p62) return -1;
    return n > 0 ? static_cast<int64_t>(n) : 0;
  } else {
    if (delta == 0) return -1;
    const bool up = delta > 0;
    if (up ? start >= limit : start <= limit) return 0;
    const auto from = static_cast<uint64_t>(start);
    const auto to = static_cast<uint64_t>(limit);
    const uint64_t length = up ? to - from : from - to;
    const uint64_t step = up ? static_cast<uint64_t>(delta) : 0 - static_cast<uint64_t>(delta);
    const uint64_t n = (length - 1) / step + 1;
    return n > uint64_t{1} << 62 ? -1 : static_cast<int64_t>(n);
  }
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  const DType dtype = rule.type(kStart).dtype;
  bool known = true;
  for (size_t i : {kStart, kLimit, kDelta}) {
    if (rule.type(i).dtype != dtype)
      return invalid_argument("{} and {} should have one element type", rule.describe(kStart), rule.describe(i));
    if (rule.shape(i).is_static() && rule.shape(i).elements() != 1)
      return invalid_argument("{} should be one number", rule.describe(i));
    known = known && ctx.constants[i] != nullptr && ctx.constants[i]->elements() == 1;
  }
  if (!is_float(dtype) && !is_integer(dtype))
    return unsupported("{} should be a float or integer type", rule.describe(kStart));
  if (!known) return std::vector<TensorType>{{dtype, Shape{Dim::unknown()}}};
  int64_t count = 0;
  NEREID_RETURN_IF_ERROR(with_number(dtype, [&]<typename T>() {
    count = count_numbers<T>(load<T>(*ctx.constants[kStart])[0], load<T>(*ctx.constants[kLimit])[0],
                             load<T>(*ctx.constants[kDelta])[0]);
    return Status::ok();
  }));
  if (count < 0)
    return invalid_argument("from {} to {} by steps of {} is not a finite number of steps",
                            load<double>(*ctx.constants[kStart])[0], load<double>(*ctx.constants[kLimit])[0],
                            load<double>(*ctx.constants[kDelta])[0]);
  return std::vector<TensorType>{{dtype, Shape{Dim(count)}}};
}

Status evaluate(const EvalContext& ctx) {
  const TensorView& y = ctx.outputs[0];
  return with_number(y.dtype, [&]<typename T>() {
    const T start = load<T>(ctx.inputs[kStart])[0];
    const T delta = load<T>(ctx.inputs[kDelta])[0];
    Elements<T> values(y.elements());
    for (int64_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_floating_point_v<T>) {
        values[i] = start + static_cast<T>(i) * delta;
      } else {
        values[i] =
            static_cast<T>(static_cast<uint64_t>(start) + static_cast<uint64_t>(i) * static_cast<uint64_t>(delta));
      }
    }
    return store<T>(y, values);
  });
}

}  // namespace

extern constexpr OpDef kRange = {.name = "range",
                                 .summary = "y[i] = start + i * delta, as long as it lies before limit",
                                 .inputs = kInputs,
                                 .outputs = kOutputs,
                                 .attrs = {},
                                 .infer = infer,
                                 .evaluate = evaluate,
                                 .cost = cost_per_element<1>};

}  // namespace nereid::ops
