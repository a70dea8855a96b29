// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/inspect_text.h"

namespace nereid::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

compile::Description sample() {
  compile::Description d{.path = "m.gguf", .format = "GGUF version 3", .label = "llama q4_1", .files = {"m.gguf"}};
  d.metadata = {{.key = "general.name", .value = "tiny"},
                {.key = "tokens", .value = Json::array({"a", "b"}), .count = 49152}};
  d.tensors = {{.name = "w", .dtype = "q4_1", .sizes = {2, 32}, .bytes = 40, .layout = ""},
               {.name = "b", .dtype = "f32", .sizes = {2}, .bytes = 8, .layout = ""}};
  d.tensor_bytes = 48;
  d.parameters = 66;
  d.model = {{"architecture", "llama"}, {"layers", 1}};
  return d;
}

TEST(Inspect, the_summary_has_totals_and_bits_per_weight) {
  const std::string text = inspect_text(sample(), {});
  EXPECT_THAT(text, HasSubstr("2, 48 B (48 bytes), 66 parameters, 5.818 bits per weight"));
  EXPECT_THAT(text, HasSubstr("architecture   llama\n"));
}

TEST(Inspect, long_arrays_are_shortened_and_counted) {
  EXPECT_THAT(inspect_text(sample(), {}), HasSubstr("| tokens       | [\"a\",\"b\", ...] (49152 items) |"));
}

TEST(Inspect, only_the_parts_asked_for_are_printed) {
  const std::string text = inspect_text(sample(), {.summary = false, .metadata = false});
  EXPECT_TRUE(text.starts_with("| tensor | dtype | shape   | bytes |\n")) << text;
  EXPECT_THAT(text, Not(HasSubstr("layout")));
}

TEST(Inspect, the_layouts_of_an_engine_have_a_column) {
  compile::Description d = sample();
  d.tensors[0].layout = "tile16 code4";
  d.engine = {{"producer", "nereid"}};
  d.checks = compile::EngineChecks{.chunks = 3, .verified = true};
  const std::string text = inspect_text(d, {});
  EXPECT_THAT(text, HasSubstr("| w      | q4_1  | [2, 32] |    40 | tile16 code4 |"));
  EXPECT_THAT(text, HasSubstr("| b      | f32   | [2]     |     8 | rows         |"));
  EXPECT_THAT(text, HasSubstr("header, sections and 3 chunks of weights are sound"));
}

TEST(Inspect, the_json_carries_the_same_facts) {
  const Json j = inspect_json(sample(), {});
  EXPECT_EQ(j["tensor_bytes"], 48);
  EXPECT_EQ(j["metadata"][1]["count"], 49152);
  EXPECT_EQ(j["tensors"][0]["shape"], Json::array({2, 32}));
  EXPECT_TRUE(j["tokenizer"].is_null());
}

TEST(Inspect, text_of_a_file_cannot_steer_the_terminal) {
  EXPECT_EQ(one_line("a\x1b[31mb\nc", 100), "a?[31mb c");
}

TEST(Inspect, text_is_cut_between_characters) {
  EXPECT_EQ(one_line("ab\xc3\xa9z", 3), "ab...");
  EXPECT_EQ(one_line("ab\xc3\xa9z", 4), "ab\xc3\xa9...");
  EXPECT_EQ(one_line("abc", 3), "abc");
}

}  // namespace
}  // namespace nereid::cli
