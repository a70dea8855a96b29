// SPDX-License-Identifier: Apache-2.0
// Labels of classes and lists of numbers.
#include "import/onnx/ops/model_parts.h"

namespace nereid::import::onnx {

Result<ClassLabels> read_labels(NodeContext& node, std::string_view integers) {
  ClassLabels labels;
  NEREID_TRY(labels.texts, node.texts("classlabels_strings", std::vector<std::string>()));
  NEREID_TRY(labels.integers, node.integers(integers, std::vector<int64_t>()));
  if (!labels.texts.empty() && !labels.integers.empty())
    return invalid_argument("it has labels of both kinds, integers and texts");
  return labels;
}

Status give_classes(NodeContext& node, const ClassLabels& labels, const std::vector<ValueId>& results) {
  if (node.wants_output(1)) node.give(1, results[1]);
  if (!node.wants_output(0)) return Status::ok();
  // One label alone: the classes are its being and not being there.
  if (labels.count() == 0 || (labels.count() == 1 && labels.texts.empty())) {
    node.give(0, results[0]);
    return Status::ok();
  }
  if (labels.count() == 1)
    return unsupported("it has one label, '{}', and no name for what is not that", labels.texts[0]);
  ops::Tensor table;
  if (labels.texts.empty()) {
    NEREID_TRY(table, ops::Tensor::zeros(DType::i64, {labels.count()}));
    std::ranges::copy(labels.integers, table.view().as<int64_t>());
  } else {
    NEREID_TRY(table, ops::Tensor::zeros(DType::string, {labels.count()}));
    table.strings = labels.texts;
  }
  NEREID_TRY(const ValueId label,
             node.emit("gather", {node.constant(std::move(table)), results[0]}, {{"axis", int64_t{0}}}));
  node.give(0, label);
  return Status::ok();
}

Result<ValueId> constant_reals(NodeContext& node, std::string_view list, std::string_view tensor) {
  if (!tensor.empty() && node.has_attr(tensor)) {
    NEREID_TRY(ops::Tensor t, node.tensor(tensor));
    if (!is_float(t.dtype) || t.sizes.size() > 1)
      return invalid_argument("its attribute '{}' should be a list of floats, but is {}{}", tensor, dtype_name(t.dtype),
                              Shape::of(t.sizes).to_string());
    if (t.sizes.empty()) t.sizes = {1};
    if (t.sizes[0] == 0) return ValueId();
    return node.constant(std::move(t));
  }
  NEREID_TRY(const std::vector<double> values, node.reals(list, std::vector<double>()));
  if (values.empty()) return ValueId();
  return node.constant(ops::Tensor::of(DType::f32, {static_cast<int64_t>(values.size())}, values));
}

}  // namespace nereid::import::onnx
