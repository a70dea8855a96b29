// SPDX-License-Identifier: Apache-2.0
// Running one op.
#include "ops/run.h"

namespace nereid::ops {
namespace {

Result<std::vector<Tensor>> allocate(const OpDef& op, const std::vector<TensorType>& types) {
  std::vector<Tensor> results;
  for (const TensorType& type : types) {
    if (!type.shape.is_static() || !type.is_tensor())
      return internal("the shape rule of {} gives {} where sizes are wanted", op.name, type.to_string());
    NEREID_TRY(Tensor t, Tensor::zeros(type.dtype, type.shape.sizes()));
    results.push_back(std::move(t));
  }
  return results;
}

}  // namespace

Result<std::vector<Tensor>> run(const OpDef& op, std::span<const ConstTensorView> inputs,
                                std::span<TensorView* const> states, const Attrs& attrs) {
  if (op.evaluate == nullptr) {
    std::vector<Datum> data(inputs.size());
    std::vector<const Datum*> pointers(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].data == nullptr && inputs[i].sizes.empty()) continue;
      data[i] = Tensor::copy(inputs[i]);
      pointers[i] = &data[i];
    }
    NEREID_TRY(auto made, run_any(op, pointers, attrs));
    std::vector<Tensor> results;
    for (Datum& d : made) {
      if (!d.is_tensor()) return unsupported("a result of {} is no plain tensor", op.name);
      results.push_back(std::move(d.tensor));
    }
    return results;
  }
  std::vector<TensorType> types(inputs.size());
  std::vector<const TensorType*> type_pointers;
  std::vector<const ConstTensorView*> constants;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool present = inputs[i].data != nullptr || !inputs[i].sizes.empty();
    types[i] = {inputs[i].dtype, Shape::of(inputs[i].sizes)};
    type_pointers.push_back(present ? &types[i] : nullptr);
    constants.push_back(present ? &inputs[i] : nullptr);
  }
  NEREID_TRY(auto result_types, op.infer({.inputs = type_pointers, .constants = constants, .attrs = attrs}));
  NEREID_TRY(std::vector<Tensor> results, allocate(op, result_types));
  std::vector<TensorView> views;
  for (Tensor& t : results) views.push_back(t.view());
  NEREID_RETURN_IF_ERROR(op.evaluate({.inputs = inputs, .outputs = views, .states = states, .attrs = attrs}));
  return results;
}

Result<std::vector<Datum>> run_any(const OpDef& op, std::span<const Datum* const> inputs, const Attrs& attrs) {
  if (op.evaluate_any != nullptr) return op.evaluate_any({.inputs = inputs, .attrs = attrs});
  if (op.evaluate == nullptr) return internal("{} runs only inside a graph", op.name);
  std::vector<ConstTensorView> views;
  for (const Datum* d : inputs) {
    if (d != nullptr && !d->is_tensor())
      return invalid_argument("{} takes plain tensors, but an input is {}", op.name, type_of(*d).to_string());
    views.push_back(d != nullptr ? d->view() : ConstTensorView());
  }
  NEREID_TRY(auto results, run(op, views, {}, attrs));
  std::vector<Datum> out;
  for (Tensor& t : results) out.emplace_back(std::move(t));
  return out;
}

Result<std::vector<TensorType>> infer_types(const OpDef& op, const InferContext& context, size_t results) {
  bool plain = true;
  for (const TensorType* type : context.inputs)
    plain &= type == nullptr || (type->is_tensor() && type->shape.is_ranked());
  if (plain || op.infers_any) return op.infer(context);
  DType dtype = DType::f32;
  for (const TensorType* type : context.inputs)
    if (type != nullptr) {
      dtype = type->dtype;
      break;
    }
  std::vector<TensorType> out;
  for (size_t i = 0; i < results; ++i)
    out.push_back({op.dtype_of != nullptr ? op.dtype_of(context, i) : dtype, Shape::unranked()});
  return out;
}

}  // namespace nereid::ops
