// SPDX-License-Identifier: Apache-2.0
// For tests: small ONNX files, and what a test asks again and again.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/test_dir.h"
#include "nereid/nereid.h"
#include "onnx-ml.pb.h"

namespace nereid::api::testing {

class TestModel {
 public:
  TestModel() {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(20);
    model_.mutable_graph()->set_name("g");
  }
  // Sizes below 0 are open: -1 is called "n1", and so on.
  TestModel& input(const std::string& name, std::initializer_list<int64_t> sizes, int element = 1) {
    declare(*model_.mutable_graph()->add_input(), name, sizes, element);
    return *this;
  }
  TestModel& output(const std::string& name, std::initializer_list<int64_t> sizes, int element = 1) {
    declare(*model_.mutable_graph()->add_output(), name, sizes, element);
    return *this;
  }
  TestModel& sequence_output(const std::string& name) {
    auto& value = *model_.mutable_graph()->add_output();
    value.set_name(name);
    value.mutable_type()->mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(1);
    return *this;
  }
  // Numbers that `seed` makes.
  TestModel& weight(const std::string& name, std::initializer_list<int64_t> sizes, float seed = 1) {
    auto& t = *model_.mutable_graph()->add_initializer();
    t.set_name(name);
    t.set_data_type(1);
    int64_t n = 1;
    for (const int64_t s : sizes) {
      t.add_dims(s);
      n *= s;
    }
    for (int64_t i = 0; i < n; ++i) t.add_float_data(std::sin(seed * static_cast<float>(i + 1)));
    return *this;
  }
  TestModel& node(const std::string& op, std::initializer_list<const char*> in,
                  std::initializer_list<const char*> out) {
    auto& node = *model_.mutable_graph()->add_node();
    node.set_op_type(op);
    for (const char* name : in) node.add_input(name);
    for (const char* name : out) node.add_output(name);
    return *this;
  }
  std::string bytes() const { return model_.SerializeAsString(); }
  void write(const std::string& path) const { std::ofstream(path, std::ios::binary) << bytes(); }

 private:
  static void declare(::onnx::ValueInfoProto& value, const std::string& name, std::initializer_list<int64_t> sizes,
                      int element) {
    value.set_name(name);
    auto& tensor = *value.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(element);
    tensor.mutable_shape();
    for (const int64_t s : sizes) {
      auto& dim = *tensor.mutable_shape()->add_dim();
      if (s < 0)
        dim.set_dim_param("n" + std::to_string(-s));
      else
        dim.set_dim_value(s);
    }
  }
  ::onnx::ModelProto model_;
};

// y = softmax(relu(x . w) . v): kernels all through.
inline TestModel layers(float seed = 1) {
  return TestModel()
      .input("x", {-1, 4})
      .weight("w", {4, 32}, seed)
      .weight("v", {32, 8}, seed)
      .node("MatMul", {"x", "w"}, {"a"})
      .node("Relu", {"a"}, {"b"})
      .node("MatMul", {"b", "v"}, {"c"})
      .node("Softmax", {"c"}, {"y"})
      .output("y", {-1, 8});
}

inline nereid_tensor tensor(const std::vector<float>& values, const std::vector<int64_t>& dims) {
  return {values.data(), NEREID_F32, static_cast<int32_t>(dims.size()), dims.data()};
}

// Opens a model from memory; closes it.
struct Opened {
  explicit Opened(const TestModel& model, int threads = 1) {
    const std::string bytes = model.bytes();
    nereid_open_options options = NEREID_OPEN_OPTIONS_INIT;
    options.threads = threads;
    EXPECT_EQ(nereid_engine_open_from_memory(bytes.data(), bytes.size(), nullptr, &options, &engine), NEREID_OK)
        << nereid_last_error();
    EXPECT_EQ(nereid_context_create(engine, nullptr, &context), NEREID_OK) << nereid_last_error();
  }
  ~Opened() {
    nereid_context_close(&context);
    nereid_engine_close(&engine);
  }
  std::vector<float> floats(size_t index) const {
    nereid_tensor t{};
    EXPECT_EQ(nereid_context_output(context, index, &t), NEREID_OK) << nereid_last_error();
    int64_t n = 1;
    for (int32_t d = 0; d < t.rank; ++d) n *= t.dims[d];
    const auto* first = static_cast<const float*>(t.data);
    return {first, first + n};
  }
  nereid_engine* engine = nullptr;
  nereid_context* context = nullptr;
};

}  // namespace nereid::api::testing
