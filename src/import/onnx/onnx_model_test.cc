// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/onnx_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/test_dir.h"
#include "graph/evaluate.h"
#include "graph/text.h"
#include "onnx-ml.pb.h"
#include "ops/elements.h"

namespace nereid::import::onnx {
namespace {

using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;
using testing::HasSubstr;

// x f32[n, 4] -> one node -> y.
ModelProto model_of(const std::string& op, const std::function<void(ModelProto&)>& change = {}) {
  ModelProto m;
  m.set_ir_version(8);
  m.add_opset_import()->set_version(17);
  auto* g = m.mutable_graph();
  g->set_name("test");
  auto* x = g->add_input();
  x->set_name("x");
  auto* type = x->mutable_type()->mutable_tensor_type();
  type->set_elem_type(TensorProto::FLOAT);
  type->mutable_shape()->add_dim()->set_dim_param("n");
  type->mutable_shape()->add_dim()->set_dim_value(4);
  NodeProto* node = g->add_node();
  node->set_name("first");
  node->set_op_type(op);
  node->add_input("x");
  node->add_output("y");
  g->add_output()->set_name("y");
  if (change) change(m);
  return m;
}

Result<OnnxModel> read(const ModelProto& m, const ImportOptions& options = {}, const std::string& folder = "") {
  return import_bytes(m.SerializeAsString(), folder, options);
}
std::string refusal(const ModelProto& m, const ImportOptions& options = {}, const std::string& folder = "") {
  const auto model = read(m, options, folder);
  EXPECT_FALSE(model.is_ok());
  return model.is_ok() ? "" : model.status().message();
}

void add_tensor(ModelProto& m, const std::string& name, const std::vector<int64_t>& dims,
                const std::vector<float>& data) {
  TensorProto* t = m.mutable_graph()->add_initializer();
  t->set_name(name);
  t->set_data_type(TensorProto::FLOAT);
  for (int64_t d : dims) t->add_dims(d);
  for (float v : data) t->add_float_data(v);
}

TEST(OnnxModel, a_node_becomes_an_op_and_names_are_kept) {
  const auto model = read(model_of("Relu"));
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  EXPECT_EQ(graph::print(model->graph),
            "graph test {\n  input %x: f32[n, 4]\n  %y: f32[n, 4] = relu(%x)\n  output %y\n}\n");
}

TEST(OnnxModel, shapes_given_beforehand_are_the_inputs) {
  const auto model = read(model_of("Relu"), {.shapes = {{"x", {2, 4}}}, .overridden = {}});
  EXPECT_EQ(model->graph.value(model->graph.inputs()[0]).type.to_string(), "f32[2, 4]");
  EXPECT_THAT(refusal(model_of("Relu"), {.shapes = {{"x", {2, 5}}}, .overridden = {}}),
              HasSubstr("cannot have the shape"));
  EXPECT_THAT(refusal(model_of("Relu"), {.shapes = {{"z", {2}}}, .overridden = {}}),
              HasSubstr("'z', which is no input"));
}

TEST(OnnxModel, an_unknown_operator_names_itself_its_node_and_the_nearest) {
  EXPECT_EQ(refusal(model_of("Rely")),
            "node 'first' (Rely of opset 17): there is no such operator here; the nearest one is Relu");
}

TEST(OnnxModel, any_prefix_of_a_file_is_refused_or_read) {
  const std::string bytes = model_of("Relu").SerializeAsString();
  for (size_t n = 0; n < bytes.size(); ++n) {
    const auto model = import_bytes(bytes.substr(0, n), "");
    if (!model.is_ok()) {
      EXPECT_FALSE(model.status().message().empty());
    }
  }
  EXPECT_THAT(import_bytes("not a model", "").status().message(), HasSubstr("no ONNX model"));
}

TEST(OnnxModel, a_cycle_is_found) {
  const std::string message =
      refusal(model_of("Add", [](ModelProto& m) { m.mutable_graph()->mutable_node(0)->add_input("y"); }));
  EXPECT_THAT(message, HasSubstr("the graph has a cycle: node 'first' (Add) waits for its own result"));
}

TEST(OnnxModel, nodes_in_any_order_are_sorted) {
  const auto model = read(model_of("Relu", [](ModelProto& m) {
    m.mutable_graph()->mutable_node(0)->set_input(0, "later");
    NodeProto* node = m.mutable_graph()->add_node();
    node->set_op_type("Neg");
    node->add_input("x");
    node->add_output("later");
  }));
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  EXPECT_EQ(model->graph.order().size(), 2u);
}

TEST(OnnxModel, a_value_that_nothing_gives_is_named) {
  EXPECT_THAT(refusal(model_of("Add", [](ModelProto& m) { m.mutable_graph()->mutable_node(0)->add_input("z"); })),
              HasSubstr("nothing gives the value 'z'"));
}

TEST(OnnxModel, a_tensor_whose_data_does_not_fit_its_sizes_is_refused) {
  const auto with = [](const std::vector<int64_t>& dims, size_t count) {
    return model_of("Add", [&](ModelProto& m) {
      m.mutable_graph()->mutable_node(0)->add_input("w");
      add_tensor(m, "w", dims, std::vector<float>(count, 1));
    });
  };
  EXPECT_TRUE(read(with({4}, 4)).is_ok());
  EXPECT_THAT(refusal(with({4}, 3)), HasSubstr("should hold 4 elements, but its data has 3"));
  EXPECT_THAT(refusal(with({-4}, 4)), HasSubstr("the negative size -4"));
  EXPECT_THAT(refusal(with({int64_t{1} << 40}, 4)), HasSubstr("should hold 1099511627776 elements"));
  EXPECT_THAT(refusal(with({int64_t{1} << 40, int64_t{1} << 40}, 4)), HasSubstr("more elements than can be counted"));
}

TEST(OnnxModel, external_data_stays_in_the_models_folder) {
  const auto with = [](const std::string& location) {
    return model_of("Add", [&](ModelProto& m) {
      m.mutable_graph()->mutable_node(0)->add_input("w");
      add_tensor(m, "w", {4}, {});
      TensorProto* t = m.mutable_graph()->mutable_initializer(0);
      t->set_data_location(TensorProto::EXTERNAL);
      auto* entry = t->add_external_data();
      entry->set_key("location");
      entry->set_value(location);
    });
  };
  const TestDir dir;
  EXPECT_THAT(refusal(with("../secret"), {}, dir.path()), HasSubstr("not a file in or below the model's folder"));
  EXPECT_THAT(refusal(with("/etc/hostname"), {}, dir.path()), HasSubstr("not a file in or below the model's folder"));
  EXPECT_THAT(refusal(with("missing.bin"), {}, dir.path()), HasSubstr("which is not there"));
  EXPECT_THAT(refusal(with("weights.bin")), HasSubstr("the model has no folder"));
}

TEST(OnnxModel, a_function_that_calls_itself_ends_in_a_sentence) {
  const ModelProto m = model_of("Self", [](ModelProto& model) {
    model.mutable_graph()->mutable_node(0)->set_domain("own");
    auto* f = model.add_functions();
    f->set_name("Self");
    f->set_domain("own");
    f->add_input("a");
    f->add_output("b");
    NodeProto* node = f->add_node();
    node->set_op_type("Self");
    node->set_domain("own");
    node->add_input("a");
    node->add_output("b");
  });
  EXPECT_THAT(refusal(m), HasSubstr("does one call itself?"));
}

TEST(OnnxModel, initializers_that_are_inputs_are_constants_unless_they_are_overridden) {
  const ModelProto m = model_of("Add", [](ModelProto& model) {
    model.mutable_graph()->mutable_node(0)->add_input("w");
    add_tensor(model, "w", {4}, {1, 2, 3, 4});
    auto* w = model.mutable_graph()->add_input();
    w->set_name("w");
    w->mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::FLOAT);
    w->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(4);
  });
  EXPECT_EQ(read(m)->graph.inputs().size(), 1u);
  EXPECT_EQ(read(m)->defaults.count("w"), 1u);
  EXPECT_EQ(read(m, {.shapes = {}, .overridden = {"w"}})->graph.inputs().size(), 2u);
}

}  // namespace
}  // namespace nereid::import::onnx
