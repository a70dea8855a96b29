// SPDX-License-Identifier: Apache-2.0
// RandomNormal, RandomUniform, their Like forms, Bernoulli, Multinomial: sizes are an attribute or those of the input.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

namespace {

// The named numbers that the node has, as they are.
Status copy_reals(const NodeContext& node, std::initializer_list<const char*> names, ops::Attrs& attrs) {
  for (const char* name : names) {
    if (!node.has_attr(name)) continue;
    NEREID_TRY(const double value, node.real(name));
    attrs.set(name, value);
  }
  return Status::ok();
}

}  // namespace

Status import_random(NodeContext& node) {
  const std::string_view name = node.op_type();
  ops::Attrs attrs;
  if (name == "RandomNormal" || name == "RandomNormalLike" || name == "RandomUniform" || name == "RandomUniformLike") {
    const bool like = name.ends_with("Like");
    NEREID_RETURN_IF_ERROR(node.expect_inputs(like ? 1 : 0, like ? 1 : 0));
    if (name.starts_with("RandomNormal")) {
      NEREID_RETURN_IF_ERROR(copy_reals(node, {"mean", "scale", "seed"}, attrs));
    } else {
      NEREID_RETURN_IF_ERROR(copy_reals(node, {"high", "low", "seed"}, attrs));
    }
    NEREID_TRY(const DType dtype, node.dtype("dtype", like ? node.type(node.input(0)).dtype : DType::f32));
    attrs.set("dtype", std::string(dtype_name(dtype)));
    ValueId shape;
    if (like) {
      NEREID_TRY(shape, node.emit("shape", {node.input(0)}));
    } else {
      NEREID_TRY(const std::vector<int64_t> sizes, node.integers("shape"));
      shape = node.constant_integers(sizes);
    }
    return node.lower(name.starts_with("RandomNormal") ? "random_normal" : "random_uniform", {shape}, std::move(attrs));
  }
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  NEREID_RETURN_IF_ERROR(copy_reals(node, {"seed"}, attrs));
  const bool bernoulli = name == "Bernoulli";
  NEREID_TRY(const DType dtype, node.dtype("dtype", bernoulli ? node.type(node.input(0)).dtype : DType::i32));
  attrs.set("dtype", std::string(dtype_name(dtype)));
  if (bernoulli) return node.lower("bernoulli", {node.input(0)}, std::move(attrs));
  NEREID_TRY(const int64_t samples, node.integer("sample_size", 1));
  attrs.set("sample_size", samples);
  return node.lower("multinomial", {node.input(0)}, std::move(attrs));
}

}  // namespace nereid::import::onnx
