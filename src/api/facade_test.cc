// SPDX-License-Identifier: Apache-2.0
// The C++ facade: errors as values until somebody asks for an exception, handles that close themselves.
#include <filesystem>
#include <nereid/nereid.hpp>

#include "api/test_model.h"

namespace nereid::api::testing {
namespace {

const std::vector<float> kX = {0.5F, -1, 2, 0.25F};

nereid::Engine opened() {
  const std::string bytes = layers().bytes();
  nereid::OpenOptions options;
  options.threads = 1;
  return nereid::Engine::open(bytes.data(), bytes.size(), options).value_or_throw();
}

TEST(ApiFacade, runs_by_names_and_by_numbers) {
  nereid::Engine engine = opened();
  nereid::Context context = engine.context().value_or_throw();
  ASSERT_TRUE(context.set_input("x", nereid::View(kX, {1, 4})).ok());
  ASSERT_TRUE(context.run().ok());
  const nereid::View y = context.output("y").value_or_throw();
  EXPECT_EQ(y.sizes(), (std::vector<int64_t>{1, 8}));
  EXPECT_EQ(y.size(), 8U);
  const std::vector<float> values = y.to_vector<float>();
  std::vector<float> mine(8);
  ASSERT_TRUE(context.bind_output(0, mine).ok());
  ASSERT_TRUE(context.run().ok());
  EXPECT_EQ(mine, values);
  EXPECT_EQ(context.threads(), 1);
  EXPECT_GT(context.memory_bytes(), 0);
}

TEST(ApiFacade, an_error_is_a_value_until_it_is_asked_to_be_an_exception) {
  auto nothing = nereid::Engine::open("/nowhere/model.onnx");
  EXPECT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.status().code(), NEREID_NOT_FOUND);
  EXPECT_NE(nothing.status().message().find("/nowhere/model.onnx"), std::string::npos);
  try {
    (void)std::move(nothing).value_or_throw();
    FAIL() << "nothing was thrown";
  } catch (const nereid::Error& e) {
    EXPECT_EQ(e.code(), NEREID_NOT_FOUND);
    EXPECT_NE(std::string(e.what()).find("/nowhere/model.onnx"), std::string::npos);
  }
  nereid::Engine engine = opened();
  nereid::Context context = engine.context().value_or_throw();
  EXPECT_THROW(context.run().or_throw(), nereid::Error);
  EXPECT_EQ(context.set_input("z", nereid::View(kX, {1, 4})).code(), NEREID_NOT_FOUND);
  EXPECT_EQ(context.output(5).status().code(), NEREID_INVALID_ARGUMENT);
  ASSERT_TRUE(context.set_input(0, nereid::View(kX, {1, 4})).ok());
  ASSERT_TRUE(context.run().ok());
  EXPECT_THROW((void)context.output(0).value_or_throw().as<double>(), nereid::Error);
}

TEST(ApiFacade, declarations) {
  nereid::Engine engine = opened();
  const std::vector<nereid::ValueInfo> inputs = engine.inputs();
  ASSERT_EQ(inputs.size(), 1U);
  EXPECT_EQ(inputs[0].name, "x");
  EXPECT_EQ(inputs[0].sizes, (std::vector<int64_t>{-1, 4}));
  EXPECT_EQ(inputs[0].size_names, (std::vector<std::string>{"n1", ""}));
  EXPECT_EQ(engine.outputs().at(0).dtype, NEREID_F32);
}

TEST(ApiFacade, engines_and_contexts_move_and_close_themselves) {
  nereid::Engine first = opened();
  nereid::Engine engine = std::move(first);
  nereid::Context one = engine.context(1).value_or_throw();
  nereid::Context context = std::move(one);
  ASSERT_TRUE(context.set_input(0, nereid::View(kX, {1, 4})).ok());
  EXPECT_TRUE(context.run().ok());
}

TEST(ApiFacade, callbacks_get_the_context_and_how_it_ended) {
  nereid::Engine engine = opened();
  nereid::Context context = engine.context().value_or_throw();
  ASSERT_TRUE(context.set_input(0, nereid::View(kX, {1, 4})).ok());
  std::vector<float> found;
  const auto id = context.run_async([&](nereid::Context& ended, const nereid::Status& status) {
    EXPECT_TRUE(status.ok());
    found = ended.output(0).value_or_throw().to_vector<float>();
  });
  ASSERT_TRUE(id.ok());
  EXPECT_TRUE(context.wait(*id).ok());
  EXPECT_TRUE(context.poll(*id).ok());
  EXPECT_EQ(found.size(), 8U);
  std::vector<float> small(2);
  ASSERT_TRUE(context.bind_output(0, small).ok());
  nereid::Status said;
  ASSERT_TRUE(context.run_async([&](nereid::Context&, const nereid::Status& status) { said = status; }).ok());
  EXPECT_TRUE(context.wait().ok());
  EXPECT_EQ(said.code(), NEREID_INVALID_ARGUMENT);
  EXPECT_NE(said.message().find("32 bytes"), std::string::npos);
}

TEST(ApiFacade, builds_are_told_and_stopped) {
  const TestDir dir;
  layers().write(dir / "net.onnx");
  nereid::BuildOptions options;
  std::vector<std::string> stages;
  options.progress = [&](const char* stage, int64_t, int64_t) {
    stages.emplace_back(stage);
    return true;
  };
  ASSERT_TRUE(nereid::build(dir / "net.onnx", dir / "net.engine", options).ok());
  EXPECT_FALSE(stages.empty());
  ASSERT_TRUE(nereid::strip(dir / "net.engine", dir / "stripped.engine").ok());
  EXPECT_FALSE(nereid::Engine::open(dir / "stripped.engine").ok());
  ASSERT_TRUE(nereid::refit(dir / "stripped.engine", dir / "net.onnx", dir / "again.engine").ok());
  EXPECT_TRUE(nereid::Engine::open(dir / "again.engine").ok());
  options.progress = [](const char*, int64_t, int64_t) { return false; };
  EXPECT_EQ(nereid::build(dir / "net.onnx", dir / "no.engine", options).code(), NEREID_CANCELLED);
  EXPECT_FALSE(std::filesystem::exists(dir / "no.engine"));
}

}  // namespace
}  // namespace nereid::api::testing
