// SPDX-License-Identifier: Apache-2.0
// Resize and Upsample: scales were attributes first, then an input beside nothing, then one of several inputs;
// GridSample, whose modes were named after two dimensions.
#include "import/onnx/ops/node_context.h"
#include "ops/elements.h"

namespace nereid::import::onnx {
namespace {

ValueId constant_floats(NodeContext& node, const std::vector<double>& values) {
  return node.constant(ops::Tensor::of(DType::f32, {static_cast<int64_t>(values.size())}, values));
}

Result<std::string> interpolation(NodeContext& node, const std::string& fallback) {
  NEREID_TRY(std::string mode, node.text("mode", fallback));
  if (mode == "bilinear" || mode == "trilinear") return std::string("linear");
  if (mode == "bicubic") return std::string("cubic");
  return mode;
}

}  // namespace

Status import_upsample(NodeContext& node) {
  NEREID_TRY(std::string mode, interpolation(node, "nearest"));
  ValueId scales = node.input(1);
  if (node.version() < 7) {
    NEREID_TRY(const double height, node.real("height_scale"));
    NEREID_TRY(const double width, node.real("width_scale"));
    scales = constant_floats(node, {1, 1, height, width});
  } else if (node.version() < 9) {
    NEREID_TRY(const std::vector<double> given, node.reals("scales"));
    scales = constant_floats(node, given);
  } else {
    NEREID_RETURN_IF_ERROR(node.expect_inputs(2, 2));
  }
  return node.lower("resize", {node.input(0), ValueId(), scales},
                    {{"coordinate_transformation_mode", std::string("asymmetric")},
                     {"mode", std::move(mode)},
                     {"nearest_mode", std::string("floor")}});
}

Status import_resize(NodeContext& node) {
  NEREID_TRY(std::string mode, interpolation(node, "nearest"));
  if (node.version() < 11) {
    NEREID_RETURN_IF_ERROR(node.expect_inputs(2, 2));
    return node.lower("resize", {node.input(0), ValueId(), node.input(1)},
                      {{"coordinate_transformation_mode", std::string("asymmetric")},
                       {"mode", std::move(mode)},
                       {"nearest_mode", std::string("floor")}});
  }
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 4));
  ops::Attrs attrs;
  attrs.set("mode", std::move(mode));
  const std::pair<const char*, const char*> texts[] = {{"coordinate_transformation_mode", "half_pixel"},
                                                       {"keep_aspect_ratio_policy", "stretch"},
                                                       {"nearest_mode", "round_prefer_floor"}};
  for (const auto& [name, fallback] : texts) {
    NEREID_TRY(std::string text, node.text(name, fallback));
    attrs.set(name, std::move(text));
  }
  for (const char* name : {"antialias", "exclude_outside"}) {
    NEREID_TRY(const int64_t flag, node.integer(name, 0));
    attrs.set(name, flag != 0);
  }
  NEREID_TRY(const double outside, node.real("extrapolation_value", 0.0));
  NEREID_TRY(const double cubic, node.real("cubic_coeff_a", -0.75));
  NEREID_TRY(std::vector<int64_t> axes, node.integers("axes", std::vector<int64_t>()));
  attrs.set("extrapolation_value", outside);
  attrs.set("cubic_coeff_a", cubic);
  attrs.set("axes", std::move(axes));
  std::vector<ValueId> inputs = {node.input(0), node.input(1), node.input(2), node.input(3)};
  // Empty tensors stand for absent ones.
  for (size_t i = 1; i < 4; ++i) {
    if (!inputs[i].valid()) continue;
    const Shape& shape = node.type(inputs[i]).shape;
    if (shape.is_ranked() && shape.rank() == 1 && shape[0] == Dim(0)) inputs[i] = ValueId();
  }
  return node.lower("resize", std::move(inputs), std::move(attrs));
}

Status import_grid_sample(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(2, 2));
  NEREID_TRY(std::string mode, interpolation(node, "linear"));
  NEREID_TRY(std::string padding, node.text("padding_mode", "zeros"));
  NEREID_TRY(const int64_t align, node.integer("align_corners", 0));
  return node.lower("grid_sample", node.inputs(),
                    {{"mode", std::move(mode)}, {"padding_mode", std::move(padding)}, {"align_corners", align != 0}});
}

}  // namespace nereid::import::onnx
