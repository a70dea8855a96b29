// SPDX-License-Identifier: Apache-2.0
#include "server/repository/config_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"

namespace nereid::server {
namespace {

using testing::HasSubstr;

constexpr std::string_view kIo =
    "input [ { name: \"INPUT0\" data_type: TYPE_FP32 dims: [ 16 ] } ]\n"
    "output [ { name: \"OUTPUT0\" data_type: TYPE_FP32 dims: [ 16 ] } ]\n"
    "instance_group [ { kind: KIND_CPU count: 1 } ]\n";

// What a real server answered for the configuration of that name.
std::string recorded(const std::string& name) {
  const auto text = read_file(std::string(NEREID_SOURCE_DIR) + "/tests/golden/kserve/config.json", 1 << 20);
  for (const auto& record : nlohmann::ordered_json::parse(text.value()))
    if (record["name"] == name) return record["answer"]["json"].dump();
  return {};
}

std::string effective(std::string_view text, const std::string& name) {
  auto file = ConfigFile::from_text(text);
  EXPECT_TRUE(file.is_ok()) << file.status().message();
  EXPECT_TRUE(file->take_name(name).is_ok());
  file->complete_backend({"model.py"});
  file->normalise();
  EXPECT_TRUE(file->check().is_ok()) << file->check().message();
  return file->json();
}

TEST(ConfigFile, the_effective_configuration_is_what_a_real_server_prints) {
  EXPECT_EQ(effective("backend: \"python\" max_batch_size: 8 " + std::string(kIo), "identity_fp32"),
            recorded("config_identity_fp32"));
  EXPECT_EQ(effective("name: \"identity_dyn\" backend: \"python\" max_batch_size: 64 " + std::string(kIo) +
                          "dynamic_batching { preferred_batch_size: [ 8, 16 ] max_queue_delay_microseconds: 500 }",
                      "identity_dyn"),
            recorded("config_identity_dyn"));
}

TEST(ConfigFile, an_ensemble_too) {
  std::string ours = effective(R"(name: "ens" platform: "ensemble" max_batch_size: 8
      input [ { name: "IN" data_type: TYPE_FP32 dims: [ 16 ] } ]
      output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 16 ] } ]
      ensemble_scheduling { step [
        { model_name: "identity_fp32" model_version: -1
          input_map { key: "INPUT0" value: "IN" } output_map { key: "OUTPUT0" value: "mid" } },
        { model_name: "identity_dyn" model_version: -1
          input_map { key: "INPUT0" value: "mid" } output_map { key: "OUTPUT0" value: "OUT" } } ] })",
                               "ens");
  // The server that was recorded is older than this field.
  const std::string newer = ",\"max_inflight_requests\":0";
  ASSERT_NE(ours.find(newer), ours.npos);
  ours.erase(ours.find(newer), newer.size());
  EXPECT_EQ(ours, recorded("config_ens"));
}

TEST(ConfigFile, json_and_text_say_the_same) {
  const std::string text = effective("backend: \"python\" max_batch_size: 8 " + std::string(kIo), "m");
  auto again = ConfigFile::from_json(text);
  ASSERT_TRUE(again.is_ok()) << again.status().message();
  EXPECT_EQ(again->json(), text);
}

TEST(ConfigFile, what_is_wrong_is_told_with_its_place) {
  EXPECT_THAT(ConfigFile::from_text("name: \"a\"\n  foo: 3").status().message(), HasSubstr("line 2, column 6"));
  EXPECT_THAT(ConfigFile::from_text("input [ { name: ").status().message(), HasSubstr("line 1"));
  EXPECT_FALSE(ConfigFile::from_json("{x").is_ok());
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "optimization { cuda { graph_spec { ";
  EXPECT_FALSE(ConfigFile::from_text(deep).is_ok());
}

Status check(const std::string& text) {
  auto file = ConfigFile::from_text(text);
  EXPECT_TRUE(file.is_ok()) << file.status().message();
  EXPECT_TRUE(file->take_name("m").is_ok());
  file->normalise();
  return file->check();
}

TEST(ConfigFile, what_cannot_be_is_refused) {
  const std::string io(kIo);
  EXPECT_EQ(check("input [ { name: \"a\" data_type: TYPE_FP32 dims: [ 0 ] } ]").message(),
            "model input 'a' dimension must be integer >= 1, or -1 to indicate a variable-size dimension for m");
  EXPECT_FALSE(check("max_batch_size: -1").is_ok());
  EXPECT_FALSE(check("input [ { name: \"a\" dims: [ 1 ] } ]").is_ok());
  EXPECT_FALSE(check("input [ { name: \"a\" data_type: TYPE_FP32 } ]").is_ok());
  EXPECT_FALSE(check("max_batch_size: 4 dynamic_batching { preferred_batch_size: [ 5 ] }").is_ok());
  EXPECT_FALSE(check("max_batch_size: 4 dynamic_batching { priority_levels: 2 }").is_ok());
  EXPECT_FALSE(check("instance_group [ { kind: KIND_GPU } ]").is_ok());
  EXPECT_FALSE(check("platform: \"ensemble\"").is_ok());
  EXPECT_TRUE(check("max_batch_size: 4 dynamic_batching { }" + io).is_ok());
}

TEST(ConfigFile, a_folder_tells_the_backend_where_the_file_does_not) {
  auto file = ConfigFile::from_text("");
  file->complete_backend({"labels.txt", "model.onnx"});
  EXPECT_EQ(file->config().backend, "onnxruntime");
  EXPECT_EQ(file->config().platform, "onnxruntime_onnx");
  EXPECT_EQ(file->config().model_file, "model.onnx");
  auto named = ConfigFile::from_text("platform: \"tensorrt_plan\"");
  named->complete_backend({});
  EXPECT_EQ(named->config().backend, "tensorrt");
}

TEST(ConfigFile, another_name_than_its_folder_is_refused) {
  auto file = ConfigFile::from_text("name: \"a\"");
  EXPECT_THAT(file->take_name("b").message(), HasSubstr("'a'"));
}

TEST(ConfigFile, what_is_said_of_instances_states_batches_and_warm_up_reaches_those_who_act_on_it) {
  const auto file = ConfigFile::from_text(R"(
    name: "m" max_batch_size: 4
    input [ { name: "a" data_type: TYPE_INT32 dims: [ -1 ] allow_ragged_batch: true } ]
    output [ { name: "b" data_type: TYPE_INT32 dims: [ 1 ] } ]
    batch_input [ { kind: BATCH_ITEM_SHAPE target_name: "t" data_type: TYPE_FP32 source_input: "a" } ]
    batch_output [ { target_name: "b" source_input: "a" } ]
    instance_group [ { kind: KIND_MODEL count: 2 host_policy: "p"
                       rate_limiter { resources [ { name: "r" global: true count: 3 } ] priority: 2 } } ]
    model_warmup [ { name: "w" batch_size: 2 inputs { key: "a" value { data_type: TYPE_INT32 dims: [ 3 ] input_data_file: "f" } } } ]
    sequence_batching { iterative_sequence: true oldest { max_candidate_sequences: 8 preferred_batch_size: [ 2 ] }
      state [ { input_name: "i" output_name: "o" data_type: TYPE_FP32 dims: [ 2 ]
                initial_state: { data_type: TYPE_FP32 dims: [ 2 ] data_file: "g" } } ] })");
  ASSERT_TRUE(file.is_ok()) << file.status().message();
  const ModelConfig c = file->config();
  EXPECT_TRUE(c.inputs[0].is_ragged);
  EXPECT_EQ(c.batch_inputs[0].kind, BatchInputKind::kItemShape);
  EXPECT_EQ(c.batch_inputs[0].targets, std::vector<std::string>{"t"});
  EXPECT_EQ(c.batch_outputs[0].source, "a");
  EXPECT_EQ(c.instances[0].kind, InstanceKind::kModel);
  EXPECT_EQ(c.instances[0].host_policy, "p");
  EXPECT_EQ(c.instances[0].priority, 2u);
  EXPECT_TRUE(c.instances[0].resources[0].is_global);
  EXPECT_EQ(c.instances[0].resources[0].count, 3u);
  EXPECT_EQ(c.warmups[0].inputs[0].file, "f");
  EXPECT_EQ(c.warmups[0].count, 1u);
  EXPECT_TRUE(c.sequence_batching->is_iterative);
  EXPECT_EQ(c.sequence_batching->max_candidates, 8u);
  EXPECT_EQ(c.sequence_batching->states[0].initial_file, "g");
  EXPECT_TRUE(file->check().is_ok()) << file->check().message();
}

TEST(ConfigFile, what_cannot_be_scheduled_is_refused_with_the_field) {
  const std::pair<const char*, const char*> wrong[] = {
      {"batch_input [ { target_name: \"t\" data_type: TYPE_INT64 source_input: \"a\" } ]", "TYPE_INT64"},
      {"batch_input [ { target_name: \"t\" data_type: TYPE_INT32 source_input: \"c\" } ]", "source_input"},
      {"batch_output [ { target_name: \"c\" source_input: \"a\" } ]", "'c'"},
      {"sequence_batching { oldest { } }", "max_candidate_sequences"},
      {"sequence_batching { direct { minimum_slot_utilization: 2 } }", "[0.0, 1.0]"},
      {"sequence_batching { state [ { input_name: \"i\" } ] }", "output_name"},
  };
  for (const auto& [text, part] : wrong) {
    const auto file = ConfigFile::from_text(std::string(R"(name: "m" max_batch_size: 4
      input [ { name: "a" data_type: TYPE_INT32 dims: [ -1 ] } ]
      output [ { name: "b" data_type: TYPE_INT32 dims: [ 1 ] } ] )") +
                                            text);
    ASSERT_TRUE(file.is_ok()) << text;
    EXPECT_THAT(file->check().message(), testing::HasSubstr(part)) << text;
  }
}

}  // namespace
}  // namespace nereid::server
