// SPDX-License-Identifier: Apache-2.0
// Hyper-parameters that are missing, of a wrong type, out of bounds or at odds with each other: a sentence, no crash.
#include "llm/arch/read_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"
#include "llm/arch/arch_table.h"
#include "llm/arch/build_model.h"
#include "llm/arch/golden_model.h"

namespace nereid::llm::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Checkpoint checkpoint(const std::string& name, Form form = Form::kHuggingFace) {
  return make_checkpoint(load_golden(name), form, DType::f32);
}

std::string error_of(Checkpoint& c) {
  const auto built = build_model(c.input());
  return built.is_ok() ? "no error" : built.status().message();
}

// The error after one key of a good config.json has another value.
std::string error_with(const std::string& key, const Json& value, const std::string& name = "llama") {
  Checkpoint c = checkpoint(name);
  c.config[key] = value;
  return error_of(c);
}

std::string error_without(const std::string& key) {
  Checkpoint c = checkpoint("llama");
  c.config.erase(key);
  return error_of(c);
}

// The error of a GGUF file whose metadata has one more or another value.
std::string gguf_error_with(std::string_view key, MetaValue value) {
  Checkpoint c = checkpoint("llama", Form::kGguf);
  Metadata changed;
  for (const auto& [k, v] : c.metadata.entries()) {
    if (k == key) continue;
    EXPECT_TRUE(changed.add(k, v).is_ok());
  }
  EXPECT_TRUE(changed.add(key, std::move(value)).is_ok());
  std::swap(c.metadata, changed);  // `changed` now owns the strings that c.metadata views
  return error_of(c);
}

TEST(ReadConfig, a_missing_size_is_named) {
  EXPECT_EQ(error_without("num_hidden_layers"), "building a llama model: num_hidden_layers in config.json is missing.");
  EXPECT_EQ(error_without("hidden_size"), "building a llama model: hidden_size in config.json is missing.");
}

TEST(ReadConfig, a_value_of_another_type_is_shown) {
  EXPECT_EQ(error_with("num_hidden_layers", "two"),
            "building a llama model: num_hidden_layers in config.json is \"two\"; expected a whole number.");
  EXPECT_THAT(error_with("hidden_size", 72.5),
              HasSubstr("hidden_size in config.json is 72.5; expected a whole number."));
  EXPECT_THAT(error_with("rms_norm_eps", Json::array({1})), HasSubstr("rms_norm_eps in config.json is [1]"));
  EXPECT_THAT(error_with("tie_word_embeddings", 1), HasSubstr("expected true or false."));
  EXPECT_THAT(error_with("hidden_size", std::string(100000, 'x')), ::testing::SizeIs(::testing::Lt(200)));
}

TEST(ReadConfig, a_whole_number_written_as_a_float_is_taken) {
  EXPECT_EQ(error_with("hidden_size", 72.0), "no error");
}

TEST(ReadConfig, hostile_sizes_are_out_of_bounds) {
  EXPECT_EQ(error_with("num_hidden_layers", 2147483648),
            "building a llama model: num_hidden_layers in config.json is 2147483648; expected 1 to 1024.");
  EXPECT_THAT(error_with("num_hidden_layers", 0), HasSubstr("is 0; expected 1 to 1024."));
  EXPECT_THAT(error_with("num_hidden_layers", -3), HasSubstr("is -3; expected 1 to 1024."));
  EXPECT_THAT(error_with("num_attention_heads", 0), HasSubstr("num_attention_heads in config.json is 0"));
  EXPECT_THAT(error_with("num_key_value_heads", 0), HasSubstr("num_key_value_heads in config.json is 0"));
  EXPECT_THAT(error_with("hidden_size", INT64_MAX), HasSubstr("expected 1 to 1048576."));
  EXPECT_THAT(error_with("vocab_size", UINT64_MAX), HasSubstr("expected a whole number."));
  EXPECT_THAT(error_with("intermediate_size", 1e300), HasSubstr("expected a whole number."));
  EXPECT_THAT(error_with("max_position_embeddings", -1), HasSubstr("max_position_embeddings in config.json is -1"));
  EXPECT_THAT(error_with("rms_norm_eps", -1e-5), HasSubstr("rms_norm_eps in config.json is -1e-05; expected 0 to 1."));
}

TEST(ReadConfig, heads_must_divide) {
  EXPECT_THAT(error_with("num_key_value_heads", 2),
              HasSubstr("9 query heads cannot share 2 key/value heads: the first must be a multiple of the second."));
  EXPECT_THAT(error_with("num_attention_heads", 7),
              HasSubstr("The width 72 is not a multiple of the 7 heads, and head_dim in config.json is missing."));
  EXPECT_THAT(error_with("head_dim", 7), HasSubstr("head_dim in config.json is 7; expected an even number."));
  EXPECT_THAT(error_with("head_dim", 4096), HasSubstr("expected [36864, 72], found [72, 72]"));
}

TEST(ReadConfig, what_would_give_nonsense_is_refused) {
  EXPECT_THAT(error_with("num_local_experts", 8), HasSubstr("mixtures of experts are not supported yet."));
  EXPECT_THAT(error_with("quantization_config", {{"quant_method", "gptq"}}),
              HasSubstr("The checkpoint's weights are quantised by 'gptq'"));
  EXPECT_THAT(error_with("hidden_act", "xielu"), HasSubstr("The activation 'xielu' is not supported."));
  EXPECT_THAT(error_with("use_bidirectional_attention", true, "gemma3"), HasSubstr("only causal models"));
  EXPECT_THAT(gguf_error_with("llama.expert_count", int64_t{8}), HasSubstr("llama.expert_count is 8"));
  EXPECT_THAT(gguf_error_with("llama.attention.value_length", int64_t{4}),
              HasSubstr("Keys of 8 elements beside values of 4"));
}

TEST(ReadConfig, windows_must_fit_the_layers) {
  EXPECT_THAT(error_with("layer_types", {"sliding_attention"}, "gemma3"),
              HasSubstr("layer_types in config.json has 1 entries for 7 layers."));
  const Json odd = Json::array({"full_attention", "full_attention", "full_attention", "chunked_attention",
                                "full_attention", "full_attention", "full_attention"});
  EXPECT_THAT(error_with("layer_types", odd, "gemma3"), HasSubstr("Layer 3 is of type \"chunked_attention\""));
  EXPECT_THAT(error_with("sliding_window", -5, "gemma3"), HasSubstr("sliding_window in config.json is -5"));
  EXPECT_THAT(error_with("sliding_window_pattern", -1, "gemma3"), HasSubstr("The period of windowed layers is -1"));
}

TEST(ReadConfig, gguf_messages_use_gguf_names) {
  EXPECT_EQ(gguf_error_with("llama.block_count", int64_t{1} << 31),
            "building a llama model: llama.block_count is 2147483648; expected 1 to 1024.");
  EXPECT_THAT(gguf_error_with("llama.attention.head_count", std::string_view("nine")),
              HasSubstr("llama.attention.head_count"));
  EXPECT_THAT(gguf_error_with("llama.attention.head_count_kv", std::vector<int64_t>{3, 1}),
              HasSubstr("llama.attention.head_count_kv differs between layers (3 and 1)"));
  EXPECT_EQ(gguf_error_with("llama.attention.head_count_kv", std::vector<int64_t>{3, 3}), "no error");
  EXPECT_THAT(gguf_error_with("llama.attention.head_count_kv", std::vector<int64_t>{}), HasSubstr("is an empty list"));
}

std::string rope_error(const Json& scaling) {
  return error_with("rope_scaling", scaling);
}

TEST(ReadRope, bad_scalings_are_refused) {
  EXPECT_THAT(rope_error({{"type", "mrope"}}), HasSubstr("The rope scaling 'mrope' is not supported"));
  EXPECT_THAT(rope_error({{"type", "yarn"}, {"factor", 4}, {"llama_4_scaling_beta", 0.1}}),
              HasSubstr("scales queries by their position, which is not supported."));
  EXPECT_THAT(rope_error({{"type", "linear"}, {"factor", 0}}),
              HasSubstr("The rope factor is 0; expected 0.001 to 1e6."));
  EXPECT_THAT(rope_error({{"type", "linear"}, {"factor", "x"}}), HasSubstr("factor in the rope parameters"));
  EXPECT_THAT(rope_error({{"type", "dynamic"}, {"factor", 0.5}}), HasSubstr("Dynamic rope scaling"));
  EXPECT_THAT(rope_error({{"type", "llama3"}, {"factor", 8}, {"low_freq_factor", 4}}),
              HasSubstr("The llama3 rope factors are low 4 and high 4; expected 0 < low < high."));
  EXPECT_THAT(rope_error({{"type", "yarn"}, {"factor", 4}, {"original_max_position_embeddings", 0}}),
              HasSubstr("The context before rope scaling is 0 tokens"));
  EXPECT_THAT(rope_error({{"type", "yarn"}, {"factor", 4}, {"beta_fast", -1}}), HasSubstr("The yarn rotations"));
  EXPECT_THAT(rope_error({{"type", "longrope"}, {"short_factor", {1, 2}}, {"long_factor", {1, 2, 3, 4}}}),
              HasSubstr("The short rope factors have 2 entries; expected 4, one a rotated pair."));
  EXPECT_THAT(rope_error({{"type", "longrope"}, {"short_factor", {1, 2, 3, 4}}, {"long_factor", {1, 2, 3, 0}}}),
              HasSubstr("One of the long rope factors is 0; expected a positive number."));
  EXPECT_THAT(rope_error({{"type", "longrope"}, {"short_factor", 1}}),
              HasSubstr("short_factor in the rope parameters of config.json is no list."));
  EXPECT_THAT(error_with("rope_theta", 0), HasSubstr("The rope base is 0; expected 1.5 to 1e15."));
  EXPECT_THAT(error_with("partial_rotary_factor", 2), HasSubstr("partial_rotary_factor is 2"));
  EXPECT_THAT(error_with("partial_rotary_factor", 0.4), HasSubstr("Rope rotates 3 elements of each head of 8"));
  EXPECT_THAT(gguf_error_with("llama.rope.dimension_count", int64_t{10}), HasSubstr("Rope rotates 10 elements"));
}

TEST(ReadConfig, a_window_of_null_is_none_and_a_missing_one_is_the_frameworks_default) {
  Checkpoint c = checkpoint("mistral");
  c.config["sliding_window"] = nullptr;
  EXPECT_EQ(build_model(c.input())->config.spans[0].window, 0);
  c.config.erase("sliding_window");
  EXPECT_EQ(build_model(c.input())->config.spans[0].window, 4096);
}

TEST(ReadConfig, layers_and_ropes_follow_the_window_pattern) {
  Checkpoint c = checkpoint("gemma3");
  const auto model = build_model(c.input());
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  ASSERT_EQ(model->config.ropes.size(), 2u);
  EXPECT_EQ(model->config.ropes[0].theta, 1e6);
  EXPECT_EQ(model->config.ropes[1].theta, 1e4);
  for (size_t i = 0; i < 7; ++i) {
    const AttentionSpan expected = i == 5 ? AttentionSpan{0, 0} : AttentionSpan{5, 1};
    EXPECT_EQ(model->config.spans[i], expected) << "layer " << i;
  }
}

// The published sizes of the 27B model: 5376 / 32 = 168, which its GGUF files do not carry.
TEST(ReadConfig, gemma3_27b_in_gguf_scales_scores_by_168) {
  Checkpoint c = checkpoint("gemma3", Form::kGguf);
  Metadata m;
  for (const auto& [key, value] : {std::pair<std::string_view, MetaValue>{"general.architecture", "gemma3"},
                                   {"gemma3.block_count", int64_t{62}},
                                   {"gemma3.embedding_length", int64_t{5376}},
                                   {"gemma3.feed_forward_length", int64_t{21504}},
                                   {"gemma3.attention.head_count", int64_t{32}},
                                   {"gemma3.attention.head_count_kv", int64_t{16}},
                                   {"gemma3.attention.key_length", int64_t{128}}}) {
    ASSERT_TRUE(m.add(key, value).is_ok());
  }
  c.metadata = std::move(m);
  const ArchInput input = c.input();
  const auto config = read_config(**find_architecture(input), HyperParameters(input), 262144);
  ASSERT_TRUE(config.is_ok()) << config.status().message();
  EXPECT_DOUBLE_EQ(config->attention_scale, 1 / std::sqrt(168.0));
}

}  // namespace
}  // namespace nereid::llm::testing
