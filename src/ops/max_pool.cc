// SPDX-License-Identifier: Apache-2.0
// max_pool: the largest element of each window and, where wanted, its index in the input.
#include <limits>

#include "ops/pool.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}, {.name = "indices", .optional = true}};
constexpr AttrSpec kAttrs[] = {
    kWindowAutoPad,
    kPoolCeilMode,
    kWindowDilations,
    kPoolKernelShape,
    kWindowPads,
    {"storage_order", AttrSpec::Kind::kInt, "0", "1: indices count the spatial axes with the first one fastest"},
    kWindowStrides,
    {"with_indices", AttrSpec::Kind::kBool, "false", "whether there is a second result, i64: flat indices into x"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  const DType dtype = ctx.inputs[0]->dtype;
  if (!is_float(dtype) && !is_integer(dtype)) return no_such_elements(dtype);
  NEREID_TRY(const Shape shape, pool_shape(ctx));
  const int64_t order = ctx.attrs.integer("storage_order");
  if (order != 0 && order != 1) return invalid_argument("storage_order is {}; it should be 0 or 1", order);
  std::vector<TensorType> results = {{dtype, shape}};
  if (ctx.attrs.boolean("with_indices")) results.push_back({DType::i64, shape});
  return results;
}

DType dtype_of(const InferContext& ctx, size_t output) {
  return output == 1 ? DType::i64 : ctx.inputs[0]->dtype;
}

template <typename T>
struct Best {
  T value;
  int64_t index;
};

template <typename T>
T least() {
  if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::lowest();
}

// A value that is no number beats all that are.
template <typename T>
bool beats(T challenger, T best) {
  return challenger > best || (challenger != challenger && best == best);
}

// Indices with the first spatial axis fastest.
void reorder(Elements<int64_t>& indices, std::span<const WindowAxis> axes) {
  int64_t plane = 1;
  for (const WindowAxis& a : axes) plane *= a.in;
  for (int64_t& index : indices) {
    if (index < 0) continue;
    int64_t rest = index % plane, stride = plane, to = index - rest;
    for (size_t d = axes.size(); d-- > 0;) {
      stride /= axes[d].in;
      to += rest % axes[d].in * stride;
      rest /= axes[d].in;
    }
    index = to;
  }
}

template <typename T>
Status with_indices(const EvalContext& ctx, const Windows& windows, const Elements<T>& x, int64_t planes) {
  Elements<Best<T>> best(x.size());
  for (int64_t i = 0; i < x.size(); ++i) best[i] = {x[i], i};
  // A window that sees nothing but padding points nowhere.
  best =
      pool_axes(std::move(best), planes, windows.axes, Best<T>{least<T>(), -1}, [](const Best<T>& a, const Best<T>& b) {
        if (b.index < 0) return a;
        return a.index < 0 || beats(b.value, a.value) ? b : a;
      });
  Elements<T> y(best.size());
  Elements<int64_t> indices(best.size());
  for (int64_t i = 0; i < best.size(); ++i) {
    y[i] = best[i].value;
    indices[i] = best[i].index;
  }
  if (ctx.attrs.integer("storage_order") == 1) reorder(indices, windows.axes);
  NEREID_RETURN_IF_ERROR(store<int64_t>(ctx.outputs[1], indices));
  return store<T>(ctx.outputs[0], y);
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[0];
  NEREID_TRY(Windows windows, read_pool(ctx.attrs, x.sizes.size() - 2));
  NEREID_RETURN_IF_ERROR(fit_image(windows, x.sizes));
  const int64_t planes = x.sizes[0] * x.sizes[1];
  return with_number(x.dtype, [&]<typename T>() {
    if (ctx.outputs.size() > 1) return with_indices<T>(ctx, windows, load<T>(x), planes);
    return store<T>(ctx.outputs[0], pool_axes(load<T>(x), planes, windows.axes, least<T>(),
                                              [](T a, T b) { return beats(b, a) ? b : a; }));
  });
}

}  // namespace

extern constexpr OpDef kMaxPool = {.name = "max_pool",
                                   .summary = "y = the largest element of each window, padding left out",
                                   .inputs = kInputs,
                                   .outputs = kOutputs,
                                   .attrs = kAttrs,
                                   .infer = infer,
                                   .evaluate = evaluate,
                                   .cost = pool_cost,
                                   .dtype_of = dtype_of};

}  // namespace nereid::ops
