// SPDX-License-Identifier: Apache-2.0
// Every published GGUF vocabulary with expected ids: strings separated by a marker line in .inp, one line of ids each
// in .out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "llm/token/test_files.h"

namespace nereid::token {
namespace {

std::vector<std::string> split_at(const std::string& text, std::string_view separator) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < text.size();) {
    const size_t at = text.find(separator, i);
    parts.push_back(text.substr(i, at - i));
    if (at == std::string::npos) break;
    i = at + separator.size();
  }
  return parts;
}

std::vector<int32_t> numbers(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<int32_t>(in), {}};
}

class GgufVocabulary : public ::testing::TestWithParam<const char*> {};

TEST_P(GgufVocabulary, gives_the_published_ids) {
  const std::string path =
      testing::model_path(std::string(testing::kLlamaCppModels) + "ggml-vocab-" + GetParam() + ".gguf");
  const auto tokenizer = testing::gguf_tokenizer(path);
  const auto inputs = testing::read_whole(path + ".inp");
  const auto outputs = testing::read_whole(path + ".out");
  if (!tokenizer || !inputs || !outputs) GTEST_SKIP() << path << " is not there; scripts/fetch_models gets it.";
  const std::vector<std::string> texts = split_at(*inputs, "\n__ggml_vocab_test__\n");
  const std::vector<std::string> lines = split_at(*outputs, "\n");
  ASSERT_EQ(texts.size(), lines.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_THAT(tokenizer->encode(texts[i], {.add_special = false}), ::testing::ContainerEq(numbers(lines[i])))
        << "text " << i << ": '" << texts[i] << "'";
  }
}

INSTANTIATE_TEST_SUITE_P(Published, GgufVocabulary,
                         ::testing::Values("bert-bge", "command-r", "deepseek-coder", "deepseek-llm", "falcon",
                                           "gemma-4", "gpt-2", "llama-bpe", "llama-spm", "mpt", "phi-3", "qwen2",
                                           "qwen35", "refact", "starcoder"),
                         [](const auto& vocabulary) {
                           std::string name = vocabulary.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace nereid::token
