// SPDX-License-Identifier: Apache-2.0
// LabelEncoder and CategoryMapper: tables whose keys and values are attributes, under a name a type.
#include "import/onnx/ops/node_context.h"
#include "ops/elements.h"

namespace nereid::import::onnx {
namespace {

template <typename T, typename V>
ops::Tensor numbers(DType dtype, const std::vector<V>& values) {
  ops::Tensor t = ops::Tensor::zeros(dtype, {static_cast<int64_t>(values.size())}).value();
  (void)ops::store<T>(t.view(), std::span<const T>(values));
  return t;
}

ops::Tensor texts(std::vector<std::string> values) {
  ops::Tensor t = ops::Tensor::zeros(DType::string, {static_cast<int64_t>(values.size())}).value();
  t.strings = std::move(values);
  return t;
}

// The attribute PREFIX_tensor, PREFIX_int64s, PREFIX_floats or PREFIX_strings.
Result<ops::Tensor> list(const NodeContext& node, const std::string& prefix) {
  if (node.has_attr(prefix + "_tensor")) return node.tensor(prefix + "_tensor");
  if (node.has_attr(prefix + "_int64s")) {
    NEREID_TRY(const std::vector<int64_t> values, node.integers(prefix + "_int64s"));
    return numbers<int64_t>(DType::i64, values);
  }
  if (node.has_attr(prefix + "_floats")) {
    NEREID_TRY(const std::vector<double> values, node.reals(prefix + "_floats"));
    return numbers<double>(DType::f32, values);
  }
  NEREID_TRY(std::vector<std::string> values, node.texts(prefix + "_strings"));
  return texts(std::move(values));
}

// What stands for everything that is not in the table.
Result<ops::Tensor> otherwise(const NodeContext& node, DType dtype) {
  if (node.has_attr("default_tensor")) return node.tensor("default_tensor");
  if (dtype == DType::string) {
    NEREID_TRY(std::string text, node.text("default_string", "_Unused"));
    return texts({std::move(text)});
  }
  if (is_float(dtype)) {
    NEREID_TRY(const double value, node.real("default_float", -0.0));
    return numbers<double>(dtype, std::vector<double>{value});
  }
  NEREID_TRY(const int64_t value, node.integer("default_int64", -1));
  return numbers<int64_t>(dtype, std::vector<int64_t>{value});
}

Status look_up(NodeContext& node, ops::Tensor keys, ops::Tensor values) {
  NEREID_TRY(ops::Tensor fallback, otherwise(node, values.dtype));
  const ValueId key_list = node.constant(std::move(keys));
  const ValueId value_list = node.constant(std::move(values));
  return node.lower("label_encoder", {node.input(0), key_list, value_list, node.constant(std::move(fallback))});
}

// A table between texts and numbers, read in the direction that the input's type says.
Status either_way(NodeContext& node, ops::Tensor words, ops::Tensor places) {
  if (node.type(node.input(0)).dtype == DType::string) return look_up(node, std::move(words), std::move(places));
  return look_up(node, std::move(places), std::move(words));
}

}  // namespace

Status import_label_encoder(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  if (node.version() < 2) {
    NEREID_TRY(std::vector<std::string> classes, node.texts("classes_strings"));
    std::vector<int64_t> places(classes.size());
    for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int64_t>(i);
    return either_way(node, texts(std::move(classes)), numbers<int64_t>(DType::i64, places));
  }
  NEREID_TRY(ops::Tensor keys, list(node, "keys"));
  NEREID_TRY(ops::Tensor values, list(node, "values"));
  return look_up(node, std::move(keys), std::move(values));
}

Status import_category_mapper(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  NEREID_TRY(std::vector<std::string> words, node.texts("cats_strings"));
  NEREID_TRY(const std::vector<int64_t> places, node.integers("cats_int64s"));
  if (words.size() != places.size())
    return invalid_argument("cats_strings has {} entries and cats_int64s {}", words.size(), places.size());
  return either_way(node, texts(std::move(words)), numbers<int64_t>(DType::i64, places));
}

}  // namespace nereid::import::onnx
