// SPDX-License-Identifier: Apache-2.0
// Constant: its value is one of several attributes.
#include "import/onnx/ops/node_context.h"
#include "ops/elements.h"

namespace nereid::import::onnx {
namespace {

template <typename T>
ops::Tensor vector_of(DType dtype, const std::vector<T>& values) {
  ops::Tensor t = ops::Tensor::zeros(dtype, {static_cast<int64_t>(values.size())}).value();
  (void)ops::store<T>(t.view(), std::span<const T>(values));
  return t;
}

ops::Tensor strings_of(std::vector<std::string> values) {
  ops::Tensor t = ops::Tensor::zeros(DType::string, {static_cast<int64_t>(values.size())}).value();
  t.strings = std::move(values);
  return t;
}

ops::Tensor scalar(ops::Tensor t) {
  t.sizes.clear();
  return t;
}

Result<ops::Tensor> value_of(NodeContext& node) {
  if (node.has_attr("value")) return node.tensor("value");
  if (node.has_attr("sparse_value")) return node.tensor("sparse_value");
  if (node.has_attr("value_int")) {
    NEREID_TRY(const int64_t v, node.integer("value_int"));
    return scalar(vector_of<int64_t>(DType::i64, {v}));
  }
  if (node.has_attr("value_ints")) {
    NEREID_TRY(const std::vector<int64_t> v, node.integers("value_ints"));
    return vector_of<int64_t>(DType::i64, v);
  }
  if (node.has_attr("value_float")) {
    NEREID_TRY(const double v, node.real("value_float"));
    return scalar(vector_of<double>(DType::f32, {v}));
  }
  if (node.has_attr("value_floats")) {
    NEREID_TRY(const std::vector<double> v, node.reals("value_floats"));
    return vector_of<double>(DType::f32, v);
  }
  if (node.has_attr("value_string")) {
    NEREID_TRY(std::string v, node.text("value_string"));
    return scalar(strings_of({std::move(v)}));
  }
  if (node.has_attr("value_strings")) {
    NEREID_TRY(std::vector<std::string> v, node.texts("value_strings"));
    return strings_of(std::move(v));
  }
  return invalid_argument("it has none of the attributes that hold its value");
}

}  // namespace

Status import_constant(NodeContext& node) {
  NEREID_TRY(ops::Tensor value, value_of(node));
  node.give(0, node.constant(std::move(value)));
  return Status::ok();
}

}  // namespace nereid::import::onnx
