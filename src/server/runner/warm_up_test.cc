// SPDX-License-Identifier: Apache-2.0
#include "server/runner/warm_up.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <mutex>

#include "base/test_dir.h"
#include "server/runner/test_backend.h"

namespace nereid::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Seen {
  std::mutex mutex;
  std::vector<std::string> runs;  // instance, requests of the batch, items, first value
  bool fails = false;

  Run run() {
    return [this](const std::string& instance, Batch batch) {
      const std::lock_guard lock(mutex);
      for (const auto& one : batch) {
        runs.push_back(fmt::format("{} {} {} {}", instance, batch.size(), one->batch(), value_in(*one)));
        InferResponse response = test_response(0);
        if (fails) response.status = internal("the fan is off");
        one->send(std::move(response));
      }
    };
  }
};

WarmupSample sample(WarmupData data, uint32_t batch = 1, uint32_t count = 1, std::string file = {}) {
  return {.name = "w",
          .batch = batch,
          .count = count,
          .inputs = {{.name = "in", .type = InferType::kInt32, .dims = {1}, .data = data, .file = std::move(file)}}};
}

TEST(WarmUp, every_instance_runs_every_sample_as_often_as_it_says_before_the_model_is_there) {
  Seen seen;
  ModelConfig config = test_config();
  config.instances[0].count = 2;
  config.warmups = {sample(WarmupData::kZero, 1, 2), sample(WarmupData::kZero, 3)};
  const auto model = serve_test(config, seen.run());
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  EXPECT_THAT(seen.runs, ElementsAre("m_0_0 1 1 0", "m_0_0 1 1 0", "m_0_0 3 1 0", "m_0_0 3 1 0", "m_0_0 3 1 0",
                                     "m_0_1 1 1 0", "m_0_1 1 1 0", "m_0_1 3 1 0", "m_0_1 3 1 0", "m_0_1 3 1 0"));
  EXPECT_EQ((*model)->statistics().executions, 6u);
  EXPECT_EQ((*model)->statistics().success.count, 10u);
}

TEST(WarmUp, values_may_come_from_a_file) {
  const TestDir dir;
  std::filesystem::create_directories(dir / "warmup");
  const int32_t value = 77;
  std::ofstream(dir / "warmup/data", std::ios::binary).write(reinterpret_cast<const char*>(&value), sizeof value);
  Seen seen;
  ModelConfig config = test_config();
  config.warmups = {sample(WarmupData::kFile, 1, 1, "data")};
  ASSERT_TRUE(serve_test(config, seen.run(), nullptr, dir.path()).is_ok());
  EXPECT_THAT(seen.runs, ElementsAre("m_0_0 1 1 77"));
}

TEST(WarmUp, a_sample_that_fails_fails_the_model_with_what_was_said) {
  Seen seen;
  seen.fails = true;
  ModelConfig config = test_config();
  config.warmups = {sample(WarmupData::kRandom)};
  const auto model = serve_test(config, seen.run());
  ASSERT_FALSE(model.is_ok());
  EXPECT_THAT(model.status().message(), HasSubstr("'w'"));
  EXPECT_THAT(model.status().message(), HasSubstr("the fan is off"));
}

TEST(WarmUp, a_sample_that_no_request_could_be_is_told) {
  Seen seen;
  const auto error_of = [&](WarmupSample one) {
    ModelConfig config = test_config();
    config.warmups = {std::move(one)};
    const auto model = serve_test(config, seen.run());
    return model.is_ok() ? std::string() : model.status().message();
  };
  EXPECT_THAT(error_of(sample(WarmupData::kZero, 9)), HasSubstr("batch_size is 9"));
  EXPECT_THAT(error_of(sample(WarmupData::kFile, 1, 1, "none")), HasSubstr("none"));
  EXPECT_THAT(error_of(sample(WarmupData::kFile, 1, 1, "../none")), HasSubstr("outside"));
  WarmupSample open = sample(WarmupData::kZero), large = open, wrong = open;
  open.inputs[0].dims = {-1};
  large.inputs[0].dims = {int64_t{1} << 40};
  wrong.inputs[0].name = "other";
  EXPECT_THAT(error_of(open), HasSubstr("[-1]"));
  EXPECT_THAT(error_of(large), HasSubstr("larger than"));
  EXPECT_THAT(error_of(wrong), HasSubstr("'w'"));
}

}  // namespace
}  // namespace nereid::server
