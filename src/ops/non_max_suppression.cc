// SPDX-License-Identifier: Apache-2.0
// non_max_suppression: of boxes that overlap, the one with the highest score, for each image and class.
#include <algorithm>
#include <limits>
#include <numeric>

#include "ops/any_inputs.h"
#include "ops/elements.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "boxes"},
                               {.name = "scores"},
                               {.name = "max_output_boxes_per_class", .optional = true},
                               {.name = "iou_threshold", .optional = true},
                               {.name = "score_threshold", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "selected"}};
constexpr AttrSpec kAttrs[] = {{"center_point_box", AttrSpec::Kind::kBool, "false",
                                "boxes are [x_center, y_center, width, height]; else two corners [y1, x1, y2, x2]"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  for (size_t i = 0; i < 2; ++i) {
    if (!is_float(rule.type(i).dtype)) return invalid_argument("{} should be of a float type", rule.describe(i));
    NEREID_RETURN_IF_ERROR(rule.has_rank(i, 3));
  }
  NEREID_RETURN_IF_ERROR(rule.has_size(0, 2, 4, "the numbers of a box"));
  NEREID_RETURN_IF_ERROR(rule.agree(0, 0, 1, 0));
  NEREID_RETURN_IF_ERROR(rule.agree(0, 1, 1, 2));
  return std::vector<TensorType>{{DType::i64, Shape({Dim::unknown(), Dim(3)})}};
}

DType dtype_of(const InferContext&, size_t) {
  return DType::i64;
}

struct Box {
  float top, left, bottom, right;
  float area() const { return (bottom - top) * (right - left); }
};

Box box_of(const float* b, bool center) {
  if (center) return {b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2, b[0] + b[2] / 2};
  return {std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]), std::max(b[1], b[3])};
}

bool overlaps(const Box& a, const Box& b, float threshold) {
  const float high = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const float wide = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (!(high > 0) || !(wide > 0)) return false;
  const float both = high * wide;
  if (!(a.area() > 0) || !(b.area() > 0)) return false;
  return both / (a.area() + b.area() - both) > threshold;
}

Result<std::vector<Datum>> evaluate(const AnyContext& ctx) {
  NEREID_RETURN_IF_ERROR(infer_data(ctx, infer));
  // The first element of an optional input.
  const auto number = [&](size_t i, double fallback) {
    if (i >= ctx.inputs.size() || ctx.inputs[i] == nullptr || ctx.inputs[i]->view().elements() == 0) return fallback;
    const DType dtype = ctx.inputs[i]->view().dtype;
    if (!is_float(dtype) && !is_integer(dtype)) return fallback;
    return load<double>(ctx.inputs[i]->view())[0];
  };
  const double most = number(2, 0);
  const float iou = static_cast<float>(number(3, 0));
  const float least = static_cast<float>(number(4, -std::numeric_limits<double>::infinity()));
  const bool has_least = ctx.inputs.size() > 4 && ctx.inputs[4] != nullptr;
  const bool center = ctx.attrs.boolean("center_point_box");
  const std::vector<int64_t>& sizes = ctx.inputs[1]->tensor.sizes;
  const int64_t batch = sizes[0], classes = sizes[1], boxes = sizes[2];
  const Elements<float> corners = load<float>(ctx.inputs[0]->view()), scores = load<float>(ctx.inputs[1]->view());

  std::vector<int64_t> selected;
  std::vector<Box> all(static_cast<size_t>(boxes));
  std::vector<int64_t> order;
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t i = 0; i < boxes; ++i) all[static_cast<size_t>(i)] = box_of(&corners[(n * boxes + i) * 4], center);
    for (int64_t c = 0; c < classes; ++c) {
      const float* score = scores.data() + (n * classes + c) * boxes;
      order.clear();
      for (int64_t i = 0; i < boxes; ++i)
        if (score[i] == score[i] && (!has_least || score[i] > least)) order.push_back(i);
      std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return score[a] > score[b]; });
      std::vector<int64_t> kept;
      for (int64_t i : order) {
        if (!(static_cast<double>(kept.size()) < most)) break;
        const auto covers = [&](int64_t k) {
          return overlaps(all[static_cast<size_t>(i)], all[static_cast<size_t>(k)], iou);
        };
        if (std::ranges::none_of(kept, covers)) kept.push_back(i);
      }
      for (int64_t i : kept) selected.insert(selected.end(), {n, c, i});
    }
  }
  NEREID_TRY(Tensor result, Tensor::zeros(DType::i64, {static_cast<int64_t>(selected.size() / 3), 3}));
  NEREID_RETURN_IF_ERROR(store<int64_t>(result.view(), std::span<const int64_t>(selected)));
  return one_result(std::move(result));
}

Cost cost(const InferContext& ctx, std::span<const TensorType>) {
  return traffic(ctx, {});
}

}  // namespace

extern constexpr OpDef kNonMaxSuppression = {
    .name = "non_max_suppression",
    .summary = "rows [image, class, box] of the boxes that no better one of their class overlaps, best first",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .cost = cost,
    .evaluate_any = evaluate,
    .dtype_of = dtype_of};

}  // namespace nereid::ops
