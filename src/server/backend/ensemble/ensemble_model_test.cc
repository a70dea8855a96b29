// SPDX-License-Identifier: Apache-2.0
#include "server/backend/ensemble/ensemble_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TensorConfig tensor(std::string name, InferType type = InferType::kUint8) {
  return {.name = std::move(name), .type = type, .dims = {1}, .reshape = {}, .label_file = {}};
}

// Adds a number to its input and notes that it ran.
class AddModel final : public InferModel {
 public:
  AddModel(std::string name, int add, std::vector<std::string>* ran) : add_(add), ran_(ran) {
    config_.name = std::move(name);
    config_.inputs = {tensor("in")};
    config_.outputs = {tensor("out")};
  }
  const ModelConfig& config() const override { return config_; }
  int64_t version() const override { return 1; }
  const std::string& config_json() const override { return json_; }
  const std::vector<std::string>& labels(std::string_view) const override { return *ran_; }
  Status infer(InferRequest request, InferSink sink) override {
    ran_->push_back(config_.name);
    if (fails) return invalid_argument("{} fails", config_.name);
    const auto value = static_cast<uint8_t>(static_cast<int>(request.inputs[0].bytes[0]) + add_);
    InferResponse response;
    response.outputs.push_back(tensor_of("out", InferType::kUint8, {1}, std::vector<uint8_t>{value}));
    sink(std::move(response));
    return Status::ok();
  }
  InferStatistics statistics() const override { return {}; }
  bool is_ready() const override { return true; }
  void drain() override {}
  bool fails = false;

 private:
  ModelConfig config_;
  const int add_;
  std::vector<std::string>* const ran_;
  const std::string json_;
};

class FakeModels final : public InferModels {
 public:
  Result<std::shared_ptr<InferModel>> find(std::string_view name, int64_t) const override {
    for (const auto& one : models)
      if (one->config().name == name) return std::shared_ptr<InferModel>(one);
    return not_found("no model '{}'", name);
  }
  std::vector<std::shared_ptr<InferModel>> ready(std::string_view) const override { return {}; }
  std::vector<std::shared_ptr<InferModel>> all_ready() const override { return {}; }
  std::vector<IndexRow> index(bool) override { return {}; }
  bool is_ready() const override { return true; }
  Status load(const std::string&, const LoadOverride&) override { return Status::ok(); }
  Status unload(const std::string&, bool) override { return Status::ok(); }
  std::vector<std::shared_ptr<AddModel>> models;
};

EnsembleStep step(std::string model, std::string from, std::string to) {
  return {.model = std::move(model),
          .version = -1,
          .inputs = {{"in", std::move(from)}},
          .outputs = {{"out", std::move(to)}}};
}

class EnsembleTest : public testing::Test {
 protected:
  EnsembleTest() {
    for (const auto& [name, add] : {std::pair("one", 1), std::pair("two", 2), std::pair("ten", 10)})
      models_.models.push_back(std::make_shared<AddModel>(name, add, &ran_));
    config_.name = "ens";
    config_.platform = "ensemble";
    config_.inputs = {tensor("x")};
    config_.outputs = {tensor("y"), tensor("z")};
    // x -> one -> m -> two -> y, and m -> ten -> z
    config_.steps = {step("two", "m", "y"), step("one", "x", "m"), step("ten", "m", "z")};
  }
  Result<std::shared_ptr<InferModel>> make() {
    return make_ensemble({.config = config_, .json = "{}", .labels = {}, .version = 1, .models = &models_});
  }
  // "y=8 z=16", or the error.
  std::string ask(InferModel& model, std::vector<std::string> outputs = {}) {
    InferRequest request;
    request.inputs.push_back(tensor_of("x", InferType::kUint8, {1}, std::vector<uint8_t>{5}));
    request.outputs = std::move(outputs);
    std::string text;
    const Status status = model.infer(std::move(request), [&](InferResponse&& response) {
      text = response.status.message();
      for (const InferTensor& one : response.outputs)
        text += (text.empty() ? "" : " ") + one.name + "=" + std::to_string(static_cast<int>(one.bytes[0]));
    });
    return status.is_ok() ? text : status.message();
  }

  std::vector<std::string> ran_;
  FakeModels models_;
  ModelConfig config_;
};

TEST_F(EnsembleTest, each_step_runs_when_its_inputs_are_there_whatever_order_they_are_written_in) {
  const auto model = make();
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  EXPECT_EQ(ask(**model), "y=8 z=16");
  EXPECT_EQ((*model)->statistics().success.count, 1u);
}

TEST_F(EnsembleTest, only_the_steps_that_the_wanted_outputs_need_run) {
  const auto model = make();
  EXPECT_EQ(ask(**model, {"z"}), "z=16");
  EXPECT_THAT(ran_, ElementsAre("one", "ten"));
}

TEST_F(EnsembleTest, the_error_of_a_step_is_the_request_s) {
  const auto model = make();
  models_.models[1]->fails = true;
  EXPECT_EQ(ask(**model), "two fails");
  EXPECT_EQ((*model)->statistics().failures[static_cast<size_t>(InferFailure::kOther)], 1u);
  EXPECT_EQ(ask(**model, {"z"}), "z=16");
}

TEST_F(EnsembleTest, steps_that_do_not_fit_together_are_refused) {
  const std::vector<EnsembleStep> good = config_.steps;
  config_.steps = {good[0], good[1]};
  EXPECT_THAT(make().status().message(), HasSubstr("no step makes the output 'z'"));
  config_.steps = {good[0], good[1], good[2], step("one", "x", "m")};
  EXPECT_THAT(make().status().message(), HasSubstr("'m' is made more than once"));
  config_.steps = {good[0], good[1], step("ten", "nothing", "z")};
  EXPECT_THAT(make().status().message(), HasSubstr("nothing makes it"));
  config_.steps = good;
  config_.inputs = {tensor("x", InferType::kFp32)};
  EXPECT_THAT(make().status().message(), HasSubstr("'x' is FP32, but the input 'in' of 'one' is UINT8"));
  config_.inputs = {tensor("x")};
  config_.max_batch_size = 4;
  EXPECT_THAT(make().status().message(), HasSubstr("allows maximum batch size 4"));
}

TEST_F(EnsembleTest, steps_that_wait_for_each_other_are_an_error_not_a_hang) {
  config_.steps = {step("one", "a", "b"), step("two", "b", "a"), step("ten", "x", "z"), step("two", "b", "y")};
  EXPECT_THAT(make().status().message(), HasSubstr("wait for each other"));
}

}  // namespace
}  // namespace nereid::server
