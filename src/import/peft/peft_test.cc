// SPDX-License-Identifier: Apache-2.0
// Adapters as PEFT saved them (tests/golden/arch/make_adapters.py), and every kind that must be refused by name.
#include "import/peft/peft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/test_dir.h"
#include "import/peft/config.h"

namespace nereid::import::peft {
namespace {

using ::testing::HasSubstr;

const std::string kAdapters = std::string(NEREID_SOURCE_DIR) + "/tests/data/models/tiny-llama.adapters/";

const Module* find(const Adapter& adapter, std::string_view name) {
  for (const Module& m : adapter.modules)
    if (m.name == name) return &m;
  return nullptr;
}

TEST(Peft, opens_an_adapter_of_queries_and_values) {
  const Result<Adapter> adapter = open(kAdapters + "plain");
  ASSERT_TRUE(adapter.is_ok()) << adapter.status().message();
  ASSERT_EQ(adapter->modules.size(), 4u);
  EXPECT_EQ(adapter->modules[0].name, "model.layers.0.self_attn.q_proj");
  EXPECT_EQ(adapter->modules[1].name, "model.layers.0.self_attn.v_proj");
  for (const Module& m : adapter->modules) {
    EXPECT_EQ(m.rank(), 8);
    EXPECT_EQ(m.scale, 2.0);  // lora_alpha 16
    EXPECT_EQ(m.a.dtype, DType::f32);
    EXPECT_EQ(m.a.sizes[1], 32);
  }
  EXPECT_EQ(adapter->modules[1].b.sizes, (std::vector<int64_t>{16, 8}));
}

// Ranks and scales as peft 0.21.2 gives them (LoraLayer.r and .scaling of the loaded model).
TEST(Peft, follows_rslora_and_the_patterns_of_ranks_and_alphas) {
  const Result<Adapter> adapter = open(kAdapters + "all");
  ASSERT_TRUE(adapter.is_ok()) << adapter.status().message();
  EXPECT_EQ(adapter->modules.size(), 15u);
  const struct {
    const char* name;
    int64_t rank;
    double alpha;
  } wanted[] = {{"model.layers.0.self_attn.q_proj", 3, 6}, {"model.layers.0.self_attn.k_proj", 4, 5.5},
                {"model.layers.1.self_attn.k_proj", 4, 6}, {"model.layers.0.mlp.up_proj", 4, 6},
                {"model.layers.1.mlp.up_proj", 9, 6},      {"lm_head", 4, 6}};
  for (const auto& [name, rank, alpha] : wanted) {
    const Module* m = find(*adapter, name);
    ASSERT_NE(m, nullptr) << name;
    EXPECT_EQ(m->rank(), rank) << name;
    EXPECT_NEAR(m->scale, alpha / std::sqrt(static_cast<double>(rank)), 1e-12) << name;
    EXPECT_EQ(m->a.dtype, DType::bf16) << name;
  }
}

TEST(Peft, patterns_match_whole_names_or_what_follows_a_dot) {
  const std::string name = "model.layers.1.self_attn.q_proj";
  for (const char* pattern : {"q_proj", "self_attn.q_proj", "layers\\.1\\..*", "^model.layers.1.self_attn.q_proj",
                              "(q|k)_proj", ".*", "[a-z]_proj"})
    EXPECT_TRUE(pattern_matches(pattern, name).value()) << pattern;
  for (const char* pattern : {"proj", "attn.q_proj", "layers.1", "^layers.*", "Q_proj", "layers\\.2\\..*"})
    EXPECT_FALSE(pattern_matches(pattern, name).value()) << pattern;
  EXPECT_THAT(pattern_matches("(", name).status().message(), HasSubstr("no regular expression"));
  EXPECT_THAT(pattern_matches("([x]+[x]+)+[yz]", std::string(60, 'x')).status().message(),
              HasSubstr("too long to match"));
  EXPECT_FALSE(pattern_matches(std::string(5000, 'a'), name).is_ok());
}

// A safetensors file of zeros: name, dtype and shape of each tensor.
struct Zeros {
  std::string name, dtype;
  std::vector<int64_t> shape;
};
std::string file_of(const std::vector<Zeros>& tensors) {
  Json header = Json::object();
  int64_t at = 0;
  for (const Zeros& t : tensors) {
    int64_t bytes = t.dtype == "F32" ? 4 : t.dtype == "I8" ? 1 : 2;
    for (int64_t s : t.shape) bytes *= s;
    header[t.name] = {{"dtype", t.dtype}, {"shape", t.shape}, {"data_offsets", {at, at + bytes}}};
    at += bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const auto length = static_cast<uint64_t>(text.size());
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  return file + text + std::string(static_cast<size_t>(at), '\0');
}

constexpr const char* kA = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight";
constexpr const char* kB = "base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight";
const std::vector<Zeros> kGood = {{kA, "F32", {8, 32}}, {kB, "F32", {32, 8}}};

// What reading says of a folder with this configuration and these tensors.
std::string refusal(const std::string& config, const std::string& weights,
                    StatusCode code = StatusCode::kInvalidArgument) {
  const TestDir dir;
  std::ofstream(dir / "adapter_config.json") << config;
  std::ofstream(dir / "adapter_model.safetensors", std::ios::binary) << weights;
  const Result<Adapter> adapter = open(dir.path());
  if (adapter.is_ok()) return "";
  EXPECT_EQ(adapter.status().code(), code) << adapter.status().message();
  EXPECT_THAT(adapter.status().message(), HasSubstr(dir.path()));
  return adapter.status().message();
}
std::string config_refusal(const std::string& more, StatusCode code = StatusCode::kInvalidArgument) {
  return refusal(R"({"peft_type":"LORA","r":8)" + more + "}", file_of(kGood), code);
}
std::string tensor_refusal(const std::vector<Zeros>& tensors, StatusCode code = StatusCode::kInvalidArgument) {
  return refusal(R"({"peft_type":"LORA","r":8})", file_of(tensors), code);
}

TEST(Peft, refuses_by_name_what_would_change_the_result) {
  EXPECT_EQ(config_refusal(""), "");
  EXPECT_EQ(config_refusal(R"(,"use_dora":false,"modules_to_save":[],"layer_replication":null,"bias":"none")"), "");
  constexpr auto kNo = StatusCode::kUnsupported;
  EXPECT_THAT(config_refusal(R"(,"use_dora":true)", kNo), HasSubstr("sets use_dora, which is not supported: DoRA"));
  EXPECT_THAT(config_refusal(R"(,"modules_to_save":["lm_head"])", kNo), HasSubstr("modules_to_save"));
  EXPECT_THAT(config_refusal(R"(,"layer_replication":[[0,4],[2,5]])", kNo), HasSubstr("layer_replication"));
  EXPECT_THAT(config_refusal(R"(,"alora_invocation_tokens":[5])", kNo), HasSubstr("alora_invocation_tokens"));
  EXPECT_THAT(config_refusal(R"(,"bias":"lora_only")", kNo), HasSubstr("trained biases (bias is lora_only)"));
  EXPECT_THAT(config_refusal(R"(,"init_lora_weights":"pissa_niter_16")", kNo), HasSubstr("begun by pissa_niter_16"));
  EXPECT_THAT(refusal(R"({"peft_type":"IA3"})", file_of(kGood), kNo), HasSubstr("peft_type is IA3"));
  EXPECT_THAT(tensor_refusal({{"base_model.model.x.lora_magnitude_vector", "F32", {4}}}, kNo), HasSubstr("DoRA"));
  EXPECT_THAT(tensor_refusal({{"base_model.model.e.lora_embedding_A", "F32", {8, 264}}}, kNo),
              HasSubstr("embedding table"));
  EXPECT_THAT(tensor_refusal({{"base_model.model.x.lora_B.bias", "F32", {8}}}, kNo),
              HasSubstr("neither lora_A nor lora_B"));
  EXPECT_THAT(
      tensor_refusal(
          {kGood[0], kGood[1], {"base_model.model.model.layers.0.self_attn.q_proj.base_layer.weight", "F32", {40, 32}}},
          kNo),
      HasSubstr("brings another base weight"));
}

TEST(Peft, refuses_numbers_of_no_sense) {
  EXPECT_THAT(config_refusal(R"(,"lora_alpha":NaN)"), HasSubstr("adapter_config.json"));
  EXPECT_THAT(config_refusal(R"(,"lora_alpha":1e300)"), HasSubstr("expected a finite number"));
  EXPECT_THAT(config_refusal(R"(,"lora_alpha":"16")"), HasSubstr("lora_alpha"));
  EXPECT_THAT(config_refusal(R"(,"rank_pattern":{"q_proj":0})"),
              HasSubstr("the rank of model.layers.0.self_attn.q_proj is 0"));
  EXPECT_THAT(config_refusal(R"(,"rank_pattern":{"q_proj":8.5})"), HasSubstr("is 8.5"));
  EXPECT_THAT(config_refusal(R"(,"rank_pattern":{"q_proj":4})"), HasSubstr("gives it a rank of 4"));
  EXPECT_THAT(config_refusal(R"(,"rank_pattern":[4])"), HasSubstr("rank_pattern is no object"));
  EXPECT_THAT(config_refusal(R"(,"alpha_pattern":{"(":4})"), HasSubstr("no regular expression"));
  EXPECT_THAT(config_refusal(R"(,"alpha_pattern":{"q_proj":4,".*proj":5})"), HasSubstr("both match"));
  EXPECT_THAT(refusal("[]", file_of(kGood)), HasSubstr("expected a JSON object"));
  EXPECT_THAT(refusal("{", file_of(kGood)), HasSubstr("adapter_config.json"));
}

TEST(Peft, refuses_tensors_that_do_not_fit_each_other) {
  EXPECT_EQ(tensor_refusal(kGood), "");
  EXPECT_THAT(tensor_refusal({}), HasSubstr("holds no tensors"));
  EXPECT_THAT(tensor_refusal({kGood[0]}), HasSubstr("q_proj has no lora_B"));
  EXPECT_THAT(tensor_refusal({kGood[1]}), HasSubstr("q_proj has no lora_A"));
  EXPECT_THAT(tensor_refusal({{kA, "F32", {8, 32}}, {kB, "F32", {32, 4}}}), HasSubstr("do not fit each other"));
  EXPECT_THAT(tensor_refusal({{kA, "F32", {8, 32}}, {kB, "F16", {32, 8}}}), HasSubstr("do not fit each other"));
  EXPECT_THAT(tensor_refusal({{kA, "F32", {4, 32}}, {kB, "F32", {32, 4}}}), HasSubstr("gives it a rank of 8"));
  EXPECT_THAT(tensor_refusal({{kA, "F32", {8, 4, 8}}, {kB, "F32", {32, 8}}}), HasSubstr("should be a matrix"));
  EXPECT_THAT(tensor_refusal({{kA, "I8", {8, 32}}, {kB, "I8", {32, 8}}}, StatusCode::kUnsupported),
              HasSubstr("expected f32, f16 or bf16"));
  EXPECT_THAT(tensor_refusal({kGood[0], kGood[1], {"model.layers.0.self_attn.q_proj.lora_A.weight", "F32", {8, 32}}}),
              HasSubstr("are the same matrix"));
}

TEST(Peft, says_what_a_folder_lacks) {
  const TestDir dir;
  EXPECT_THAT(open(dir / "nowhere").status().message(), HasSubstr("nowhere"));
  EXPECT_THAT(open(dir.path()).status().message(), HasSubstr("has no adapter_config.json"));
  std::ofstream(dir / "adapter_config.json") << R"({"peft_type":"LORA"})";
  EXPECT_THAT(open(dir / "adapter_config.json").status().message(), HasSubstr("to be a folder"));
  EXPECT_THAT(open(dir.path()).status().message(), HasSubstr("has no adapter_model.safetensors"));
  std::ofstream(dir / "adapter_model.bin") << "PK";
  EXPECT_THAT(open(dir.path()).status().message(), HasSubstr("PyTorch pickle"));
}

TEST(Peft, every_truncation_of_a_file_is_refused) {
  const std::string whole = file_of(kGood);
  for (size_t size = 0; size < whole.size(); size += size < 400 ? 1 : 97)
    EXPECT_NE(refusal(R"({"peft_type":"LORA"})", whole.substr(0, size)), "") << size;
}

}  // namespace
}  // namespace nereid::import::peft
