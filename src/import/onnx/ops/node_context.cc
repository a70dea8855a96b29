// SPDX-License-Identifier: Apache-2.0
// The conveniences of a node context.
#include "import/onnx/ops/node_context.h"

#include "ops/elements.h"

namespace nereid::import::onnx {

std::vector<ValueId> NodeContext::inputs() const {
  std::vector<ValueId> out;
  for (size_t i = 0; i < input_count(); ++i) out.push_back(input(i));
  return out;
}

Status NodeContext::expect_inputs(size_t least, size_t most) const {
  if (input_count() >= least && input_count() <= most) return Status::ok();
  if (least == most) return invalid_argument("it has {} inputs and should have {}", input_count(), least);
  return invalid_argument("it has {} inputs and should have {} to {}", input_count(), least, most);
}

std::optional<std::vector<int64_t>> NodeContext::known_integers(ValueId id) const {
  const ConstTensorView* view = id.valid() ? known(id) : nullptr;
  if (view == nullptr || !is_integer(view->dtype)) return std::nullopt;
  const ops::Elements<int64_t> values = ops::load<int64_t>(*view);
  return std::vector<int64_t>(values.begin(), values.end());
}

Result<ValueId> NodeContext::emit(std::string_view op, std::vector<ValueId> inputs, ops::Attrs attrs) {
  NEREID_TRY(const std::vector<ValueId> results, emit_all(op, std::move(inputs), std::move(attrs), 1));
  return results[0];
}

ValueId NodeContext::constant_integers(const std::vector<int64_t>& values) {
  ops::Tensor t = ops::Tensor::zeros(DType::i64, {static_cast<int64_t>(values.size())}).value();
  (void)ops::store<int64_t>(t.view(), std::span<const int64_t>(values));
  return constant(std::move(t));
}

ValueId NodeContext::constant_scalar(DType dtype, double value) {
  ops::Tensor t = ops::Tensor::zeros(dtype, {}).value();
  (void)ops::store<double>(t.view(), std::span<const double>(&value, 1));
  return constant(std::move(t));
}

Status NodeContext::lower(std::string_view op, std::vector<ValueId> inputs, ops::Attrs attrs) {
  NEREID_TRY(const std::vector<ValueId> results, emit_all(op, std::move(inputs), std::move(attrs), output_count()));
  for (size_t i = 0; i < output_count(); ++i) give(i, results[i]);
  return Status::ok();
}

Status NodeContext::lower_control(std::string_view op, std::vector<ValueId> inputs, ops::Attrs attrs,
                                  std::vector<std::shared_ptr<const graph::Graph>> regions, size_t results) {
  if (results < output_count())
    return invalid_argument("it has {} outputs, but its graph gives {}", output_count(), results);
  NEREID_TRY(const std::vector<ValueId> ids,
             emit_control(op, std::move(inputs), std::move(attrs), std::move(regions), results));
  for (size_t i = 0; i < output_count(); ++i) give(i, ids[i]);
  return Status::ok();
}

}  // namespace nereid::import::onnx
