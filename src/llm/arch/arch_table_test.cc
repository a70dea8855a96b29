// SPDX-License-Identifier: Apache-2.0
// The table is complete, and a model it does not know is told so with the nearest name.
#include "llm/arch/arch_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/json.h"

namespace nereid::llm {
namespace {

using ::testing::HasSubstr;

ArchInput hf_input(std::string_view name, const Json* config) {
  ArchInput input;
  input.architecture = name;
  input.hf = config;
  return input;
}

TEST(ArchTable, rows_are_in_alphabetical_order_and_complete) {
  std::string_view previous;
  for (const Architecture* a : arch_table()) {
    EXPECT_LT(previous, a->name);
    previous = a->name;
    EXPECT_TRUE(a->embed != nullptr && a->layer != nullptr && a->head != nullptr) << a->name;
    EXPECT_FALSE(a->weights.empty()) << a->name;
    EXPECT_FALSE(a->hf_names.empty()) << a->name;
  }
}

TEST(ArchTable, no_hugging_face_name_means_two_architectures) {
  std::set<std::string_view> seen;
  for (const Architecture* a : arch_table()) {
    for (const std::string_view name : a->hf_names) EXPECT_TRUE(seen.insert(name).second) << name;
  }
}

TEST(ArchTable, patterns_name_the_layer_in_both_formats_or_in_neither) {
  for (const Architecture* a : arch_table()) {
    for (const WeightRow& row : a->weights) {
      if (row.gguf.empty() || row.hf.empty()) continue;
      EXPECT_EQ(row.gguf.find("{i}") == std::string_view::npos, row.hf.find("{i}") == std::string_view::npos)
          << a->name << ' ' << row.gguf;
    }
  }
}

TEST(ArchTable, a_config_is_known_by_any_of_its_names) {
  const Json config = {{"architectures", {"SomeWrapper", "Qwen3ForCausalLM"}}, {"model_type", "wrapper"}};
  EXPECT_EQ(find_architecture(hf_input("SomeWrapper", &config)).value()->name, "qwen3");
  const Json bare = {{"model_type", "mistral"}};
  EXPECT_EQ(find_architecture(hf_input("", &bare)).value()->name, "mistral");
}

TEST(ArchTable, an_unknown_architecture_is_named_with_the_nearest_one) {
  Metadata metadata;
  ArchInput input;
  input.architecture = "lama";
  input.gguf = &metadata;
  const auto found = find_architecture(input);
  EXPECT_EQ(found.status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(found.status().message(),
            "The architecture 'lama' is not supported; the nearest known name is 'llama'. Supported: bert, distilbert, "
            "gemma3, llama, mistral, mpnet, qwen2, qwen3, roberta.");
}

TEST(ArchTable, a_model_without_a_name_is_told_so) {
  const Json config = {{"architectures", 3}};
  EXPECT_THAT(find_architecture(hf_input("", &config)).status().message(), HasSubstr("does not name its architecture"));
}

}  // namespace
}  // namespace nereid::llm
