// SPDX-License-Identifier: Apache-2.0
#include "server/runner/sequence_states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/test_dir.h"

namespace nereid::server {
namespace {

using testing::HasSubstr;

ModelConfig config_with(SequenceState state) {
  ModelConfig config;
  config.name = "m";
  config.max_batch_size = 4;
  config.outputs = {{.name = "seen", .type = InferType::kInt32, .dims = {1}, .reshape = {}, .label_file = {}}};
  config.sequence_batching = SequenceBatching{};
  config.sequence_batching->states.push_back(std::move(state));
  return config;
}

SequenceState state_of(std::string output = "out") {
  return {.input = "in",
          .output = std::move(output),
          .type = InferType::kInt32,
          .dims = {-1},
          .initial_dims = {},
          .initial_file = {}};
}

int32_t first_of(const InferTensor& tensor) {
  int32_t value = 0;
  std::memcpy(&value, tensor.bytes.data(), sizeof value);
  return value;
}

std::vector<InferTensor> outputs(std::string name, int32_t value) {
  return {tensor_of(std::move(name), InferType::kInt32, {1, 1}, std::vector<int32_t>{value})};
}

TEST(SequenceStates, what_a_model_gave_out_it_is_given_the_next_time_each_sequence_its_own) {
  auto states = *SequenceStates::open(config_with(state_of()), "");
  EXPECT_EQ(first_of(states.inputs("a", true)[0]), 0);
  EXPECT_EQ(states.inputs("a", false)[0].shape, (std::vector<int64_t>{1, 1})) << "open sizes begin with 1";
  states.inputs("b", true);
  auto a = outputs("out", 5), b = outputs("out", 7);
  states.take("a", {}, &a);
  states.take("b", {}, &b);
  EXPECT_TRUE(a.empty()) << "nobody asks for a state";
  EXPECT_EQ(first_of(states.inputs("a", false)[0]), 5);
  EXPECT_EQ(states.inputs("a", false)[0].name, "in");
  EXPECT_EQ(first_of(states.inputs("b", false)[0]), 7);
  EXPECT_EQ(first_of(states.inputs("a", true)[0]), 0) << "it begins anew";
}

TEST(SequenceStates, a_state_that_is_also_an_output_goes_to_whoever_wants_it) {
  auto states = *SequenceStates::open(config_with(state_of("seen")), "");
  states.inputs("a", true);
  auto all = outputs("seen", 5), named = outputs("seen", 5), other = outputs("seen", 5);
  states.take("a", {}, &all);
  states.take("a", {"seen"}, &named);
  states.take("a", {"another"}, &other);
  EXPECT_EQ(all.size(), 1u);
  EXPECT_EQ(named.size(), 1u);
  EXPECT_TRUE(other.empty());
}

TEST(SequenceStates, nothing_is_kept_of_a_sequence_that_has_ended) {
  auto states = *SequenceStates::open(config_with(state_of()), "");
  states.inputs("a", true);
  states.drop("a");
  auto late = outputs("out", 5);
  states.take("a", {}, &late);
  EXPECT_EQ(states.living(), 0u);
}

TEST(SequenceStates, a_file_says_what_a_state_begins_with) {
  const TestDir dir;
  std::filesystem::create_directories(dir.path() + "/initial_state");
  const int32_t begin[2] = {40, 41};
  std::ofstream(dir.path() + "/initial_state/begin", std::ios::binary)
      .write(reinterpret_cast<const char*>(begin), sizeof begin);
  SequenceState state = state_of();
  state.initial_dims = {2};
  state.initial_file = "begin";
  auto states = SequenceStates::open(config_with(state), dir.path());
  ASSERT_TRUE(states.is_ok()) << states.status().message();
  EXPECT_EQ(first_of(states->inputs("a", true)[0]), 40);
  state.initial_dims = {3};
  EXPECT_THAT(SequenceStates::open(config_with(state), dir.path()).status().message(), HasSubstr("8 bytes"));
  state.initial_file = "../begin";
  EXPECT_THAT(SequenceStates::open(config_with(state), dir.path()).status().message(), HasSubstr("outside"));
}

}  // namespace
}  // namespace nereid::server
