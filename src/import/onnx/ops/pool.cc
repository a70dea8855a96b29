// SPDX-License-Identifier: Apache-2.0
// MaxPool (whose indices are wanted or not) and its NHWC form of com.microsoft; RoiAlign's older coordinates.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {
namespace {

Result<ops::Attrs> window_attrs(NodeContext& node) {
  ops::Attrs attrs;
  NEREID_TRY(std::string auto_pad, node.text("auto_pad", "NOTSET"));
  NEREID_TRY(const int64_t ceil_mode, node.integer("ceil_mode", 0));
  attrs.set("auto_pad", std::move(auto_pad));
  attrs.set("ceil_mode", ceil_mode != 0);
  for (const char* name : {"dilations", "pads", "strides"}) {
    NEREID_TRY(std::vector<int64_t> list, node.integers(name, std::vector<int64_t>()));
    attrs.set(name, std::move(list));
  }
  NEREID_TRY(std::vector<int64_t> kernel, node.integers("kernel_shape"));
  attrs.set("kernel_shape", std::move(kernel));
  return attrs;
}

}  // namespace

Status import_max_pool(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  NEREID_TRY(ops::Attrs attrs, window_attrs(node));
  NEREID_TRY(const int64_t order, node.integer("storage_order", 0));
  attrs.set("storage_order", order);
  attrs.set("with_indices", node.wants_output(1));
  return node.lower("max_pool", {node.input(0)}, std::move(attrs));
}

Status import_nhwc_max_pool(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  NEREID_TRY(ops::Attrs attrs, window_attrs(node));
  const Shape& shape = node.type(node.input(0)).shape;
  if (!shape.is_ranked() || shape.rank() < 3)
    return invalid_argument("its input {} should have a batch, spatial dimensions and a channel", shape.to_string());
  const int64_t rank = shape.rank();
  std::vector<int64_t> to_front = {0, rank - 1}, to_back = {0};
  for (int64_t d = 1; d < rank - 1; ++d) to_front.push_back(d);
  for (int64_t d = 2; d < rank; ++d) to_back.push_back(d);
  to_back.push_back(1);
  NEREID_TRY(const ValueId x, node.emit("transpose", {node.input(0)}, {{"permutation", to_front}}));
  NEREID_TRY(const ValueId y, node.emit("max_pool", {x}, std::move(attrs)));
  return node.lower("transpose", {y}, {{"permutation", to_back}});
}

Status import_roi_align(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(3, 3));
  ops::Attrs attrs;
  for (const char* name : {"output_height", "output_width"}) {
    NEREID_TRY(const int64_t size, node.integer(name, 1));
    attrs.set(name, size);
  }
  NEREID_TRY(const int64_t ratio, node.integer("sampling_ratio", 0));
  NEREID_TRY(const double scale, node.real("spatial_scale", 1.0));
  NEREID_TRY(std::string mode, node.text("mode", "avg"));
  // Before opset 16 regions were not moved by half a pixel, and nothing could be said about it.
  NEREID_TRY(std::string coordinates,
             node.text("coordinate_transformation_mode", node.version() < 16 ? "output_half_pixel" : "half_pixel"));
  attrs.set("sampling_ratio", ratio);
  attrs.set("spatial_scale", scale);
  attrs.set("mode", std::move(mode));
  attrs.set("coordinate_transformation_mode", std::move(coordinates));
  return node.lower("roi_align", node.inputs(), std::move(attrs));
}

}  // namespace nereid::import::onnx
