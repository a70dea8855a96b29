// SPDX-License-Identifier: Apache-2.0
// For tests of caches: a model that says how often it was asked, and plain ways to ask it.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <future>
#include <utility>
#include <vector>

#include "server/core/infer_model.h"

namespace nereid::server {

// INT32 [2] in and out, or any shape of two; the first element of the answer counts the answers.
class CountingModel final : public InferModel {
 public:
  CountingModel() {
    config_.name = "m";
    config_.uses_cache = true;
    config_.inputs = {{.name = "a", .type = InferType::kInt32, .dims = {-1}, .reshape = {}, .label_file = {}},
                      {.name = "b",
                       .type = InferType::kInt32,
                       .dims = {-1, -1},
                       .reshape = {},
                       .is_optional = true,
                       .label_file = {}}};
    config_.outputs = {{.name = "out", .type = InferType::kInt32, .dims = {1}, .reshape = {}, .label_file = {}}};
  }
  const ModelConfig& config() const override { return config_; }
  int64_t version() const override { return 1; }
  const std::string& config_json() const override { return config_.name; }
  const std::vector<std::string>& labels(std::string_view) const override { return none_; }
  uint64_t content_mark() const override { return mark; }
  Status infer(InferRequest request, InferSink sink) override {
    ++asked;
    InferResponse response;
    if (fails) response.status = internal("the model is broken");
    if (!fails) response.outputs = {tensor_of("out", InferType::kInt32, {1}, std::vector<int32_t>{asked})};
    request.inputs.clear();
    if (holds) {
      held.emplace_back(std::move(sink), std::move(response));
    } else {
      sink(std::move(response));
    }
    return Status::ok();
  }
  InferStatistics statistics() const override { return {}; }
  bool is_ready() const override { return true; }
  void drain() override {}

  int asked = 0;
  bool fails = false;
  bool holds = false;                                       // its answers, until somebody gives them
  std::vector<std::pair<InferSink, InferResponse>> held{};  // those
  uint64_t mark = 1;

 private:
  ModelConfig config_;
  const std::vector<std::string> none_;
};

inline InferRequest cache_request(std::vector<int32_t> values) {
  InferRequest request;
  const auto count = static_cast<int64_t>(values.size());
  request.inputs = {tensor_of("a", InferType::kInt32, {count}, std::move(values))};
  return request;
}

// The number in the answer; -1: an error.
inline int32_t number_of(const InferResponse& response) {
  if (!response.status.is_ok() || response.outputs.size() != 1) return -1;
  int32_t value = 0;
  std::memcpy(&value, response.outputs[0].bytes.data(), sizeof value);
  return value;
}

inline int32_t ask(InferModel& model, InferRequest request) {
  std::promise<int32_t> answer;
  const Status status =
      model.infer(std::move(request), [&](InferResponse&& response) { answer.set_value(number_of(response)); });
  EXPECT_TRUE(status.is_ok()) << status.message();
  return status.is_ok() ? answer.get_future().get() : -1;
}

}  // namespace nereid::server
