// SPDX-License-Identifier: Apache-2.0
// col2im: columns of blocks added back into the images they were cut from.
#include "ops/elements.h"
#include "ops/shape_rule.h"
#include "ops/window.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "image_shape"}, {.name = "block_shape"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"dilations", AttrSpec::Kind::kInts, "[]", "distance of a block's elements, one an axis; empty: 1"},
    {"pads", AttrSpec::Kind::kInts, "[]", "padding of the image: all begins, then all ends; empty: 0"},
    {"strides", AttrSpec::Kind::kInts, "[]", "steps between blocks, one an axis; empty: 1"}};

// The windows of blocks over the image, which must give as many blocks as x has columns.
Result<Windows> place_blocks(const Attrs& attrs, const std::vector<int64_t>& image, const std::vector<int64_t>& block) {
  if (image.empty() || image.size() != block.size())
    return invalid_argument("image_shape has {} sizes and block_shape {}; there should be as many, at least one",
                            image.size(), block.size());
  NEREID_TRY(Windows windows, read_windows(attrs, block));
  for (size_t i = 0; i < image.size(); ++i) {
    if (image[i] < 0 || image[i] > (int64_t{1} << 40)) return invalid_argument("image_shape holds {}", image[i]);
    NEREID_RETURN_IF_ERROR(fit(windows, i, image[i]));
  }
  return windows;
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.has_rank(0, 3));
  for (size_t i : {size_t{1}, size_t{2}}) NEREID_RETURN_IF_ERROR(rule.is_index(i));
  NEREID_RETURN_IF_ERROR(rule.has_rank(1, 1));
  NEREID_RETURN_IF_ERROR(rule.has_rank(2, 1));
  if (is_block_format(rule.type(0).dtype)) return no_such_elements(rule.type(0).dtype);
  const auto image = known_integers(ctx, 1), block = known_integers(ctx, 2);
  std::vector<Dim> dims = {rule.dim(0, 0), Dim::unknown()};
  if (block) {
    const auto taps = checked_product(*block);
    if (!taps || *taps < 1) return invalid_argument("the sizes of block_shape should be positive and not too large");
    const Dim& rows = rule.dim(0, 1);
    if (rows.is_static() && rows.size() % *taps != 0)
      return invalid_argument("dimension 1 of {} should be a multiple of {}, the elements of a block", rule.describe(0),
                              *taps);
    if (rows.is_static()) dims[1] = Dim(rows.size() / *taps);
  }
  if (image) {
    for (int64_t size : *image) dims.push_back(Dim(size));
  } else if (!rule.dim(1, 0).is_static()) {
    return std::vector<TensorType>{{rule.type(0).dtype, Shape::unranked()}};
  } else {
    dims.resize(dims.size() + static_cast<size_t>(rule.dim(1, 0).size()), Dim::unknown());
  }
  if (image && block) {
    NEREID_TRY(const Windows windows, place_blocks(ctx.attrs, *image, *block));
    std::vector<int64_t> blocks;
    for (const WindowAxis& a : windows.axes) blocks.push_back(a.out);
    const auto columns = checked_product(blocks);
    if (!columns || !merge(rule.dim(0, 2), Dim(*columns)))
      return invalid_argument("dimension 2 of {} should be {}, the number of blocks in the image", rule.describe(0),
                              columns.value_or(-1));
  }
  return std::vector<TensorType>{{rule.type(0).dtype, Shape(std::move(dims))}};
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[0];
  const Elements<int64_t> image = load<int64_t>(ctx.inputs[1]), block = load<int64_t>(ctx.inputs[2]);
  const std::vector<int64_t> taps(block.begin(), block.end());
  NEREID_TRY(const Windows windows, place_blocks(ctx.attrs, {image.begin(), image.end()}, taps));
  return with_number(x.dtype, [&]<typename T>() {
    const Elements<T> src = load<T>(x);
    Elements<T> dst(ctx.outputs[0].elements(), T(0));
    const int64_t tap_count = product_of(taps), columns = x.sizes[2];
    const int64_t plane = product_of({image.data(), static_cast<size_t>(image.size())});
    std::vector<int64_t> blocks;
    for (const WindowAxis& a : windows.axes) blocks.push_back(a.out);
    const int64_t rows = x.sizes[0] * x.sizes[1];
    Positions tap(taps);
    for (int64_t r = 0; r < rows; ++r, tap.next()) {
      T* out = dst.data() + r / tap_count * plane;
      Positions column(blocks);
      for (int64_t l = 0; l < columns; ++l, column.next()) {
        int64_t at = 0;
        for (size_t d = 0; d < taps.size() && at >= 0; ++d) {
          const WindowAxis& a = windows.axes[d];
          const int64_t i = a.start(column[d]) + tap[d] * a.dilation;
          at = i < 0 || i >= a.in ? -1 : at * a.in + i;
        }
        if (at >= 0) out[at] = static_cast<T>(out[at] + src[r * columns + l]);
      }
    }
    return store<T>(ctx.outputs[0], dst);
  });
}

}  // namespace

extern constexpr OpDef kCol2im = {.name = "col2im",
                                  .summary = "y[n, c, block + k * dilation - pad] += x[n, (c, k), block]",
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .attrs = kAttrs,
                                  .infer = infer,
                                  .evaluate = evaluate,
                                  .cost = cost_per_element<1>};

}  // namespace nereid::ops
