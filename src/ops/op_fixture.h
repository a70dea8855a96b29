// SPDX-License-Identifier: Apache-2.0
// What op tests say: tensors from literal numbers, one op run by name, the sentence of a refusal.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "ops/attr_text.h"
#include "ops/op.h"
#include "ops/run.h"

namespace nereid::ops {

inline Tensor f32(std::vector<int64_t> sizes, const std::vector<double>& values) {
  return Tensor::of(DType::f32, std::move(sizes), values);
}
inline Tensor i32(std::vector<int64_t> sizes, const std::vector<double>& values) {
  return Tensor::of(DType::i32, std::move(sizes), values);
}
inline const Tensor& absent() {
  static const Tensor kNone{DType::f32, {}, {}};
  return kNone;
}

// All results, or the error as the test's failure. `inputs` that are states are changed in place.
inline Result<std::vector<Tensor>> try_op(std::string_view name, std::vector<Tensor>& inputs, Attrs attrs = {}) {
  const OpDef* op = find_op(name);
  if (op == nullptr) return not_found("there is no op '{}'", name);
  NEREID_RETURN_IF_ERROR(complete_attrs(*op, attrs));
  std::vector<ConstTensorView> views;
  std::vector<TensorView> writable(op->inputs.size());
  std::vector<TensorView*> states;
  const bool variadic = op->inputs.back().variadic;
  inputs.resize(variadic ? inputs.size() : op->inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool none = inputs[i].bytes.empty() && inputs[i].sizes.empty();
    views.push_back(none ? ConstTensorView() : std::as_const(inputs[i]).view());
    const bool state = !variadic && op->inputs[i].state;
    if (state) writable[i] = inputs[i].view();
    states.push_back(state ? &writable[i] : nullptr);
  }
  return run(*op, views, states, attrs);
}

inline std::vector<Tensor> run_op(std::string_view name, std::vector<Tensor> inputs, Attrs attrs = {}) {
  auto results = try_op(name, inputs, std::move(attrs));
  EXPECT_TRUE(results.is_ok()) << results.status().message();
  return results.is_ok() ? std::move(results).value() : std::vector<Tensor>(1);
}

// The numbers of the first result.
inline std::vector<double> numbers_of(std::string_view name, std::vector<Tensor> inputs, Attrs attrs = {}) {
  return run_op(name, std::move(inputs), std::move(attrs))[0].numbers();
}

// The message of an op that must refuse these inputs; empty if it does not.
inline std::string refusal(std::string_view name, std::vector<Tensor> inputs, Attrs attrs = {}) {
  auto results = try_op(name, inputs, std::move(attrs));
  EXPECT_FALSE(results.is_ok());
  return results.status().message();
}

// What the shape rule says of types with symbols.
inline Result<std::vector<TensorType>> infer_types(std::string_view name, const std::vector<TensorType>& types,
                                                   Attrs attrs = {}) {
  const OpDef* op = find_op(name);
  NEREID_RETURN_IF_ERROR(complete_attrs(*op, attrs));
  std::vector<const TensorType*> pointers;
  for (const TensorType& t : types) pointers.push_back(&t);
  if (!op->inputs.back().variadic) pointers.resize(op->inputs.size(), nullptr);
  const std::vector<const ConstTensorView*> constants(pointers.size(), nullptr);
  return op->infer({.inputs = pointers, .constants = constants, .attrs = attrs});
}

inline Dim symbol(const char* name) {
  return Dim::symbol(name);
}

inline auto near(const std::vector<double>& values, double tolerance = 1e-6) {
  return testing::Pointwise(testing::DoubleNear(tolerance), values);
}

}  // namespace nereid::ops
