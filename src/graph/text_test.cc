// SPDX-License-Identifier: Apache-2.0
#include "graph/text.h"

#include <gtest/gtest.h>

#include <random>

namespace nereid::graph {
namespace {

constexpr std::string_view kDecoder = R"(graph main {
  input %tokens: i32[tokens]
  input %positions: i32[tokens]
  input %sequence: i32[tokens]
  input %page_table: i32[sequences, pages_per_sequence]
  state %k_cache.0: f16[pages, 3, 16, 64]
  state %v_cache.0: f16[pages, 3, 16, 64]
  const %token_embd.weight: q8_0[49152, 576]
  const %blk.0.attn_norm.weight: f32[576]
  const %blk.0.attn_qkv.weight: q4_1[960, 576]
  const %scales: f32[2] = [1.0, -0.0]
  const %empty: f32[0] = []
  const %ids: i64[2, 1] = [-1, 9223372036854775807]
  %x: f32[tokens, 576] = embedding(%tokens, %token_embd.weight)
  %qkv: f32[tokens, 960] = linear(%x, %blk.0.attn_qkv.weight, _, _, %blk.0.attn_norm.weight) {norm_eps=1e-06}
  %q: f32[tokens, 576], %k: f32[tokens, 192], %v: f32[tokens, 192] = split(%qkv) {sizes=[576, 192, 192]}
  %a: f32[tokens, 576] = attention(%q, %k, %v, %k_cache.0, %v_cache.0, %positions, %sequence, %page_table) {head_dim=64, heads=9, kv_heads=3, scale=0.125}
  output %a, %scales, %empty, %ids
}
)";

std::string reprint(std::string_view text) {
  auto g = parse(text);
  return g.is_ok() ? print(*g) : g.status().message();
}

TEST(Text, a_printed_graph_reads_back_byte_for_byte) {
  EXPECT_EQ(reprint(kDecoder), kDecoder);
}

TEST(Text, comments_spaces_and_missing_types_are_read) {
  EXPECT_EQ(reprint("graph g { # a comment\n input %x:f32[ 4 ]\n%y=neg(%x)output %y }"),
            "graph g {\n  input %x: f32[4]\n  %y: f32[4] = neg(%x)\n  output %y\n}\n");
}

TEST(Text, odd_names_and_symbols_are_quoted) {
  constexpr std::string_view kOdd =
      "graph \"a b\" {\n  input %\"/layer:0 \\\"x\\\"\": f32[\"batch size\", \"_\", n.1]\n  %_: f32[\"batch size\", "
      "\"_\", n.1] = "
      "neg(%\"/layer:0 \\\"x\\\"\")\n  output %_\n}\n";
  EXPECT_EQ(reprint(kOdd), kOdd);
}

TEST(Text, all_attributes_print_on_request) {
  auto g = parse("graph g {\n input %x: f32[4]\n %y = softmax(%x)\n output %y\n}");
  ASSERT_TRUE(g.is_ok());
  EXPECT_NE(print(*g, {.all_attributes = true}).find("softmax(%x) {axis=-1}"), std::string::npos);
}

TEST(Text, a_text_with_all_attributes_reads_back_to_the_same_graph) {
  auto g = parse(kDecoder);
  ASSERT_TRUE(g.is_ok());
  auto again = parse(print(*g, {.inline_elements = 0, .all_attributes = true}));
  ASSERT_TRUE(again.is_ok()) << again.status().message();
  EXPECT_EQ(print(*again, {.inline_elements = 0}), print(*g, {.inline_elements = 0}));
}

TEST(Text, larger_constants_print_their_numbers_only_if_asked) {
  Graph g;
  g.add_output(g.add_constant_f32("c", std::vector<float>(9, 0.5f), {9}));
  EXPECT_NE(print(g).find("const %c: f32[9]\n"), std::string::npos);
  EXPECT_NE(print(g, {.inline_elements = 9}).find("const %c: f32[9] = [0.5, "), std::string::npos);
}

TEST(Text, errors_give_line_column_and_what_was_found) {
  EXPECT_EQ(reprint("graph g {\n  input x\n}"), "line 3, column 1: expected a value (%name), found '}'");
  EXPECT_EQ(reprint("graph g {\n  input %x\n}"), "line 2, column 9: %x needs a type");
  EXPECT_EQ(reprint("graph g {\n  input %x: f33[4]\n}"), "line 2, column 13: there is no element type 'f33'");
  EXPECT_EQ(reprint("graph g {\n  input %x: f32[4\n}"), "line 3, column 1: expected ',' between dimensions, found '}'");
  EXPECT_EQ(reprint("graph g {\n  input %x: f32[4]\n  input %x: f32[4]\n}"),
            "line 3, column 9: there is already a value %x");
  EXPECT_EQ(reprint("graph g {\n  %y = neg(%x)\n}"), "line 2, column 12: there is no value %x before this");
  EXPECT_EQ(reprint("graph g {\n  input %x: f32[4]\n  %y = nag(%x)\n}"), "line 3, column 3: there is no op 'nag'");
  EXPECT_EQ(reprint("graph g {\n  input %x: f32[4]\n  %y: f32[5] = neg(%x)\n}"),
            "line 3, column 3: %y is said to be f32[5], but neg gives f32[4]");
  EXPECT_EQ(reprint("graph g {\n  input %x: f32[4]\n  %y = softmax(%x) {axis=one}\n}"),
            "line 3, column 21: attribute 'axis': 'one' is no integer");
  EXPECT_EQ(reprint("graph g {\n  input %x: f32[4]\n  %y = softmax(%x) {axes=1}\n}"),
            "line 3, column 21: softmax has no attribute 'axes'");
  EXPECT_EQ(reprint("graph g {\n  const %x: f32[2] = [1.0]\n}"),
            "line 2, column 9: 1 numbers are given for 2 elements");
  EXPECT_EQ(reprint("graph g {\n  output %x: f32[1]\n}"), "line 2, column 14: an output has no type of its own");
  EXPECT_EQ(reprint("graph g {\n  input %\"x\n}"), "line 2, column 10: the quote that opens here is never closed");
  EXPECT_EQ(reprint("graph g {\n  input %x: f32[4]\n  %a, %a = split(%x) {sizes=[2, 2]}\n}"),
            "line 3, column 7: %a is named twice");
  EXPECT_EQ(reprint(""), "the text holds 0 graphs where one is wanted");
  EXPECT_EQ(reprint("graph g {"), "line 1, column 10: expected a statement or '}', found the end of the text");
  EXPECT_EQ(reprint("graph g { \x01 }"), "line 1, column 11: expected a value (%name), found byte 0x01");
}

TEST(Text, a_few_characters_cannot_ask_for_much_memory) {
  EXPECT_EQ(reprint("graph g { const %x: f32[1000000000000] = [1] }"),
            "line 1, column 17: the list is too short for the elements of f32[1000000000000]");
  EXPECT_EQ(reprint("graph g { input %x: f32[99999999999999999999] }"),
            "line 1, column 21: '99999999999999999999' is no dimension");
}

// Every prefix and every single-byte change of a good text gives a graph or a sentence.
TEST(Text, damaged_texts_are_refused_with_a_sentence) {
  for (size_t n = 0; n < kDecoder.size() - 2; ++n) {
    auto g = parse(kDecoder.substr(0, n));
    ASSERT_FALSE(g.is_ok()) << n;
    ASSERT_FALSE(g.status().message().empty()) << n;
  }
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string text(kDecoder);
    text[random() % text.size()] = static_cast<char>(random() % 256);
    auto g = parse(text);
    ASSERT_TRUE(!g.is_ok() || parse(print(*g)).is_ok()) << text;
  }
}

}  // namespace
}  // namespace nereid::graph
