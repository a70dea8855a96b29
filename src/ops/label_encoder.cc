// SPDX-License-Identifier: Apache-2.0
// label_encoder: each element replaced by the value that a table has for it.
#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>

#include "ops/elements.h"
#include "ops/move.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kKeys, kValues, kDefault };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "keys"}, {.name = "values"}, {.name = "default"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  const auto kind = [&](size_t i) { return dtype_info(rule.type(i).dtype).kind; };
  if (kind(kX) != kind(kKeys))
    return invalid_argument("{} should hold elements like those of {}", rule.describe(kX), rule.describe(kKeys));
  if (kind(kX) == DTypeInfo::Kind::kComplex || is_block_format(rule.type(kX).dtype))
    return unsupported("{} cannot be looked up in a table", rule.describe(kX));
  NEREID_RETURN_IF_ERROR(is_movable(rule, kValues));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kKeys, 1));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kValues, 1));
  NEREID_RETURN_IF_ERROR(rule.agree(kKeys, 0, kValues, 0));
  if (rule.type(kDefault).dtype != rule.type(kValues).dtype ||
      (rule.shape(kDefault).is_static() && rule.shape(kDefault).elements() != 1))
    return invalid_argument("{} should be one {}", rule.describe(kDefault), dtype_name(rule.type(kValues).dtype));
  return std::vector<TensorType>{{rule.type(kValues).dtype, rule.shape(kX)}};
}

DType dtype_of(const InferContext& ctx, size_t) {
  return ctx.inputs[kValues]->dtype;
}

// Of keys that stand twice the last one counts. `key(value)` makes what is compared; not-a-numbers are all one.
template <typename K, typename T, typename F>
void look_up(const EvalContext& ctx, const T* x, const T* keys, F&& key) {
  std::unordered_map<K, int64_t> table;
  for (int64_t i = 0; i < ctx.inputs[kKeys].elements(); ++i) table.insert_or_assign(key(keys[i]), i);
  for (int64_t i = 0; i < ctx.inputs[kX].elements(); ++i) {
    const auto found = table.find(key(x[i]));
    if (found != table.end()) {
      copy_elements(ctx.outputs[0], i, ctx.inputs[kValues], found->second, 1);
    } else {
      copy_elements(ctx.outputs[0], i, ctx.inputs[kDefault], 0, 1);
    }
  }
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[kX];
  const ConstTensorView& keys = ctx.inputs[kKeys];
  if (x.dtype == DType::string) {
    look_up<std::string>(ctx, x.as<std::string>(), keys.as<std::string>(), [](const std::string& s) { return s; });
  } else if (is_float(x.dtype)) {
    // A hash map does not find a not-a-number, which is no one's equal: it goes by its own key.
    using Key = std::optional<double>;
    look_up<Key>(ctx, load<double>(x).data(), load<double>(keys).data(),
                 [](double v) { return std::isnan(v) ? Key() : Key(v); });
  } else {
    look_up<int64_t>(ctx, load<int64_t>(x).data(), load<int64_t>(keys).data(), [](int64_t v) { return v; });
  }
  return Status::ok();
}

}  // namespace

extern constexpr OpDef kLabelEncoder = {.name = "label_encoder",
                                        .summary = "y = values[i] where x = keys[i], else default",
                                        .inputs = kInputs,
                                        .outputs = kOutputs,
                                        .attrs = {},
                                        .infer = infer,
                                        .evaluate = evaluate,
                                        .cost = cost_per_element<8>,
                                        .dtype_of = dtype_of};

}  // namespace nereid::ops
