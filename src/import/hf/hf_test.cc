// SPDX-License-Identifier: Apache-2.0
#include "import/hf/hf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/test_dir.h"

namespace nereid::import::hf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kData = std::string(NEREID_SOURCE_DIR) + "/tests/data/safetensors/";

void write(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(Hf, opens_a_directory_with_one_weight_file) {
  const TestDir dir;
  write(dir / "config.json", R"({"model_type":"llama","hidden_size":64})");
  write(dir / "generation_config.json", R"({"eos_token_id":[1,2]})");
  write(dir / "tokenizer_config.json", "{}");
  write(dir / "tokenizer.json", "{}");
  std::filesystem::copy_file(kData + "all_types.safetensors", dir / "model.safetensors");
  const auto model = open(dir.path());
  ASSERT_TRUE(model) << model.status().message();
  EXPECT_EQ(model->config["hidden_size"], 64);
  EXPECT_EQ(model->generation_config["eos_token_id"].size(), 2u);
  EXPECT_NE(model->weights.find("bf16"), nullptr);
  EXPECT_THAT(model->tokenizer_files, ElementsAre("tokenizer.json", "tokenizer_config.json"));
  EXPECT_EQ(model->tokenizer_file("tokenizer.json"), dir / "tokenizer.json");
  EXPECT_EQ(model->tokenizer_file("tokenizer.model"), "");
}

TEST(Hf, opens_a_directory_with_shards) {
  const TestDir dir;
  std::filesystem::copy(kData + "sharded", dir.path());
  write(dir / "config.json", "{}");
  const auto model = open(dir.path());
  ASSERT_TRUE(model) << model.status().message();
  EXPECT_EQ(model->weights.tensors.size(), 4u);
  EXPECT_TRUE(model->generation_config.empty());
}

TEST(Hf, says_what_a_directory_lacks) {
  const TestDir dir;
  EXPECT_THAT(open(dir.path()).status().message(), HasSubstr("has no config.json"));
  EXPECT_THAT(open(dir / "nowhere").status().message(), HasSubstr("nowhere"));
  write(dir / "config.json", "{}");
  EXPECT_THAT(open(dir / "config.json").status().message(), HasSubstr("to be a folder"));
  EXPECT_THAT(open(dir.path()).status().message(), HasSubstr("has no weights; expected model.safetensors"));
  write(dir / "pytorch_model.bin", "PK");
  EXPECT_THAT(open(dir.path()).status().message(), HasSubstr("only as a PyTorch pickle (pytorch_model.bin)"));
  EXPECT_EQ(open(dir.path()).status().code(), StatusCode::kUnsupported);
  write(dir / "other.safetensors", "");
  EXPECT_THAT(open(dir.path()).status().message(),
              HasSubstr("has other.safetensors, but neither model.safetensors nor"));
}

TEST(Hf, names_the_file_that_is_damaged) {
  const TestDir dir;
  write(dir / "config.json", R"({"model_type":)");
  EXPECT_THAT(open(dir.path()).status().message(), HasSubstr("config.json"));
  write(dir / "config.json", "[1]");
  EXPECT_THAT(open(dir.path()).status().message(), HasSubstr("expected a JSON object"));
  write(dir / "config.json", "{}");
  write(dir / "model.safetensors", "short");
  EXPECT_THAT(open(dir.path()).status().message(), HasSubstr("model.safetensors: the file has 5 bytes"));
}

}  // namespace
}  // namespace nereid::import::hf
