// SPDX-License-Identifier: Apache-2.0
// What tests of moving ops say: tensors of any dtype, texts, data that is no tensor.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ops/elements.h"
#include "ops/op_fixture.h"

namespace nereid::ops {

using Ints = std::vector<int64_t>;
using Numbers = std::vector<double>;

inline Tensor numbers(DType dtype, std::vector<int64_t> sizes, const Numbers& values) {
  Tensor t = Tensor::zeros(dtype, std::move(sizes)).value();
  EXPECT_TRUE(store<double>(t.view(), std::span<const double>(values)).is_ok());
  return t;
}
inline Tensor i64(std::vector<int64_t> sizes, const Numbers& values) {
  return numbers(DType::i64, std::move(sizes), values);
}
// A list of integers.
inline Tensor ints(const Numbers& values) {
  return i64({static_cast<int64_t>(values.size())}, values);
}

inline Tensor texts(std::vector<int64_t> sizes, std::vector<std::string> values) {
  Tensor t = Tensor::zeros(DType::string, std::move(sizes)).value();
  EXPECT_EQ(t.strings.size(), values.size());
  t.strings = std::move(values);
  return t;
}

inline Numbers values_of(const Tensor& t) {
  const Elements<double> values = load<double>(std::as_const(t).view());
  return {values.begin(), values.end()};
}

// Every plain dtype whose elements are real numbers and can hold 0 to 3... but for the scale type, which has no 0.
inline std::vector<DType> number_types() {
  std::vector<DType> out;
  for (int i = 0; i < static_cast<int>(DType::kCount); ++i) {
    const auto d = static_cast<DType>(i);
    const auto kind = dtype_info(d).kind;
    const bool number = kind == DTypeInfo::Kind::kFloat || kind == DTypeInfo::Kind::kInteger;
    if (number && d != DType::f8e8m0 && d != DType::i2) out.push_back(d);
  }
  return out;
}

// Any op on data of any kind; null is absent.
inline Result<std::vector<Datum>> try_any(std::string_view name, std::vector<const Datum*> inputs, Attrs attrs = {}) {
  const OpDef* op = find_op(name);
  if (op == nullptr) return not_found("there is no op '{}'", name);
  NEREID_RETURN_IF_ERROR(complete_attrs(*op, attrs));
  if (!op->inputs.back().variadic) inputs.resize(op->inputs.size());
  return run_any(*op, inputs, attrs);
}
inline Datum any(std::string_view name, std::vector<const Datum*> inputs, Attrs attrs = {}) {
  auto results = try_any(name, std::move(inputs), std::move(attrs));
  EXPECT_TRUE(results.is_ok()) << results.status().message();
  return results.is_ok() ? std::move(results).value()[0] : Datum();
}
inline std::string any_refusal(std::string_view name, std::vector<const Datum*> inputs, Attrs attrs = {}) {
  auto results = try_any(name, std::move(inputs), std::move(attrs));
  EXPECT_FALSE(results.is_ok());
  return results.status().message();
}

// The results' types when some values are known (null: not).
inline Result<std::vector<TensorType>> infer_known(std::string_view name, const std::vector<TensorType>& types,
                                                   const std::vector<const Tensor*>& values, Attrs attrs = {}) {
  const OpDef* op = find_op(name);
  NEREID_RETURN_IF_ERROR(complete_attrs(*op, attrs));
  std::vector<const TensorType*> pointers;
  for (const TensorType& t : types) pointers.push_back(&t);
  std::vector<ConstTensorView> views(types.size());
  std::vector<const ConstTensorView*> constants(types.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == nullptr) continue;
    views[i] = values[i]->view();
    constants[i] = &views[i];
  }
  if (!op->inputs.back().variadic) {
    pointers.resize(op->inputs.size());
    constants.resize(op->inputs.size());
  }
  return infer_types(*op, {.inputs = pointers, .constants = constants, .attrs = attrs}, op->outputs.size());
}

}  // namespace nereid::ops
