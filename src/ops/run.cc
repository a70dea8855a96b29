// SPDX-License-Identifier: Apache-2.0
// Running one op.
#include "ops/run.h"

namespace nereid::ops {

Result<std::vector<Tensor>> run(const OpDef& op, std::span<const ConstTensorView> inputs,
                                std::span<TensorView* const> states, const Attrs& attrs) {
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
  std::vector<Tensor> results;
  std::vector<TensorView> views;
  for (const TensorType& type : result_types) {
    NEREID_TRY(Tensor t, Tensor::zeros(type.dtype, type.shape.sizes()));
    results.push_back(std::move(t));
  }
  for (Tensor& t : results) views.push_back(t.view());
  NEREID_RETURN_IF_ERROR(op.evaluate({.inputs = inputs, .outputs = views, .states = states, .attrs = attrs}));
  return results;
}

}  // namespace nereid::ops
