// SPDX-License-Identifier: Apache-2.0
// What tests of single operators say: a file with one node, read and run on tensors.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/evaluate.h"
#include "import/onnx/element_type.h"
#include "import/onnx/onnx_model.h"
#include "import/onnx/tensor_proto.h"
#include "ops/tensor.h"

namespace nereid::import::onnx {

struct OneNode {
  std::string op;
  int64_t version = 18;                            // of the domain's operator set
  std::vector<std::optional<ops::Tensor>> inputs;  // nothing: absent
  std::vector<std::pair<std::string, ops::AttrValue>> attrs = {};
  std::string domain = {};
  size_t results = 1;
  std::vector<size_t> constant = {};  // inputs whose values the file has
};

inline ops::Tensor tensor_of(DType dtype, std::vector<int64_t> sizes, const std::vector<double>& values) {
  return ops::Tensor::of(dtype, std::move(sizes), values);
}
inline ops::Tensor f32(std::vector<int64_t> sizes, const std::vector<double>& values) {
  return tensor_of(DType::f32, std::move(sizes), values);
}

inline void write_attr(const ops::AttrValue& value, ::onnx::AttributeProto& attr) {
  using Attr = ::onnx::AttributeProto;
  if (const auto* b = std::get_if<bool>(&value)) {
    attr.set_type(Attr::INT);
    attr.set_i(*b);
  } else if (const auto* i = std::get_if<int64_t>(&value)) {
    attr.set_type(Attr::INT);
    attr.set_i(*i);
  } else if (const auto* d = std::get_if<double>(&value)) {
    attr.set_type(Attr::FLOAT);
    attr.set_f(static_cast<float>(*d));
  } else if (const auto* s = std::get_if<std::string>(&value)) {
    attr.set_type(Attr::STRING);
    attr.set_s(*s);
  } else if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
    attr.set_type(Attr::INTS);
    for (int64_t v : *list) attr.add_ints(v);
  } else if (const auto* reals = std::get_if<std::vector<double>>(&value)) {
    attr.set_type(Attr::FLOATS);
    for (double v : *reals) attr.add_floats(static_cast<float>(v));
  } else {
    attr.set_type(Attr::STRINGS);
    for (const std::string& v : std::get<std::vector<std::string>>(value)) attr.add_strings(v);
  }
}

inline std::string file_of(const OneNode& one) {
  ::onnx::ModelProto model;
  model.set_ir_version(10);
  auto* opset = model.add_opset_import();
  opset->set_domain(one.domain);
  opset->set_version(one.version);
  auto& graph = *model.mutable_graph();
  graph.set_name("g");
  auto& node = *graph.add_node();
  node.set_op_type(one.op);
  node.set_domain(one.domain);
  for (size_t i = 0; i < one.inputs.size(); ++i) {
    const std::string name = one.inputs[i] ? "x" + std::to_string(i) : "";
    node.add_input(name);
    if (name.empty()) continue;
    if (std::ranges::find(one.constant, i) != one.constant.end()) {
      write_tensor(one.inputs[i]->view(), *graph.add_initializer());
      graph.mutable_initializer()->rbegin()->set_name(name);
      continue;
    }
    auto& input = *graph.add_input();
    input.set_name(name);
    auto& type = *input.mutable_type()->mutable_tensor_type();
    type.set_elem_type(*number_of_dtype(one.inputs[i]->dtype));
    type.mutable_shape();
    for (int64_t size : one.inputs[i]->sizes) type.mutable_shape()->add_dim()->set_dim_value(size);
  }
  for (const auto& [name, value] : one.attrs) {
    auto& attr = *node.add_attribute();
    attr.set_name(name);
    write_attr(value, attr);
  }
  for (size_t i = 0; i < one.results; ++i) {
    node.add_output("y" + std::to_string(i));
    graph.add_output()->set_name("y" + std::to_string(i));
  }
  return model.SerializeAsString();
}

// All results, or the error of reading or running it.
inline Result<std::vector<ops::Tensor>> try_node(const OneNode& one) {
  NEREID_TRY(const OnnxModel model, import_bytes(file_of(one), ""));
  std::map<std::string, ops::Datum, std::less<>> given;
  for (size_t i = 0; i < one.inputs.size(); ++i)
    if (one.inputs[i] && std::ranges::find(one.constant, i) == one.constant.end())
      given["x" + std::to_string(i)] = *one.inputs[i];
  NEREID_TRY(std::vector<ops::Datum> results, graph::evaluate_any(model.graph, given));
  std::vector<ops::Tensor> tensors;
  for (ops::Datum& d : results) tensors.push_back(std::move(d.tensor));
  return tensors;
}

// The first result.
inline ops::Tensor run_node(const OneNode& one) {
  auto results = try_node(one);
  EXPECT_TRUE(results.is_ok()) << results.status().message();
  return results.is_ok() ? std::move((*results)[0]) : ops::Tensor();
}
inline std::vector<double> numbers_of(const OneNode& one) {
  return run_node(one).numbers();
}

inline std::string refusal(const OneNode& one) {
  const auto results = try_node(one);
  EXPECT_FALSE(results.is_ok());
  return results.status().message();
}

inline auto near(const std::vector<double>& values, double tolerance = 1e-5) {
  return testing::Pointwise(testing::DoubleNear(tolerance), values);
}

}  // namespace nereid::import::onnx
