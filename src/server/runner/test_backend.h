// SPDX-License-Identifier: Apache-2.0
// For tests of runners: a backend whose instances do what a test says, and plain ways to ask.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <future>

#include "server/runner/served_model.h"

namespace nereid::server {

using Batch = std::span<const std::shared_ptr<Execution>>;
using Run = std::function<void(const std::string& instance, Batch batch)>;

class TestInstance final : public BackendInstance {
 public:
  TestInstance(std::string name, Run run) : name_(std::move(name)), run_(std::move(run)) {}
  ExecutionTimes execute(Batch batch) override {
    run_(name_, batch);
    return {};
  }

 private:
  const std::string name_;
  const Run run_;
};

class TestBackendModel final : public BackendModel {
 public:
  explicit TestBackendModel(Run run) : run_(std::move(run)) {}
  Result<std::unique_ptr<BackendInstance>> make_instance(const std::string& name) override {
    return std::unique_ptr<BackendInstance>(std::make_unique<TestInstance>(name, run_));
  }

 private:
  const Run run_;
};

// INT32 [1] in and out, batches of up to 8, one instance.
inline ModelConfig test_config() {
  ModelConfig config;
  config.name = "m";
  config.max_batch_size = 8;
  config.inputs = {{.name = "in", .type = InferType::kInt32, .dims = {1}, .reshape = {}, .label_file = {}}};
  config.outputs = {{.name = "out", .type = InferType::kInt32, .dims = {1}, .reshape = {}, .label_file = {}}};
  config.instances = {{.name = "m_0", .kind = InstanceKind::kCpu, .count = 1}};
  return config;
}

inline Result<std::shared_ptr<InferModel>> serve_test(ModelConfig config, Run run,
                                                      std::shared_ptr<const RunnerRules> rules = {},
                                                      std::string folder = {}) {
  return serve_model({.config = std::move(config),
                      .json = "{}",
                      .labels = {},
                      .version = 1,
                      .backend = std::make_unique<TestBackendModel>(std::move(run)),
                      .folder = std::move(folder),
                      .rules = std::move(rules)});
}

inline int32_t value_of(const InferTensor* tensor) {
  int32_t value = 0;
  if (tensor != nullptr) std::memcpy(&value, tensor->bytes.data(), sizeof value);
  return value;
}
inline int32_t value_in(const Execution& one) {
  return value_of(one.input("in"));
}

inline InferResponse test_response(int32_t value) {
  InferResponse response;
  response.outputs = {tensor_of("out", InferType::kInt32, {1, 1}, std::vector<int32_t>{value})};
  return response;
}

inline InferRequest test_request(int32_t value) {
  InferRequest request;
  request.inputs = {tensor_of("in", InferType::kInt32, {1, 1}, std::vector<int32_t>{value})};
  return request;
}

// The answer's number, or its error.
inline std::future<std::string> ask_later(InferModel& model, InferRequest request) {
  auto promise = std::make_shared<std::promise<std::string>>();
  auto future = promise->get_future();
  const Status status = model.infer(std::move(request), [promise](InferResponse&& r) {
    if (!r.is_final) return;
    promise->set_value(!r.status.is_ok()   ? r.status.message()
                       : r.outputs.empty() ? "nothing"
                                           : std::to_string(value_of(&r.outputs[0])));
  });
  if (!status.is_ok()) promise->set_value(status.message());
  return future;
}

}  // namespace nereid::server
