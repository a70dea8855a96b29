// SPDX-License-Identifier: Apache-2.0
// Running a shape rule on data.
#include "ops/any_inputs.h"

namespace nereid::ops {

Result<std::vector<TensorType>> infer_data(const AnyContext& ctx,
                                           Result<std::vector<TensorType>> (*infer)(const InferContext&),
                                           bool infers_any) {
  const size_t n = ctx.inputs.size();
  std::vector<TensorType> types(n);
  std::vector<ConstTensorView> views(n);
  std::vector<const TensorType*> type_pointers(n);
  std::vector<const ConstTensorView*> values(n);
  for (size_t i = 0; i < n; ++i) {
    if (ctx.inputs[i] == nullptr) continue;
    types[i] = type_of(*ctx.inputs[i]);
    type_pointers[i] = &types[i];
    if (ctx.inputs[i]->is_tensor()) {
      views[i] = ctx.inputs[i]->view();
      values[i] = &views[i];
    } else if (!infers_any) {
      return invalid_argument("input {} is {} and should be a tensor", i, types[i].to_string());
    }
  }
  return infer({.inputs = type_pointers, .constants = values, .attrs = ctx.attrs});
}

}  // namespace nereid::ops
