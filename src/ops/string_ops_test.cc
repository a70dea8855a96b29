// SPDX-License-Identifier: Apache-2.0
// The ops on texts: string_concat, string_split, string_normalizer, regex_full_match, tf_idf_vectorizer.
#include "ops/move_fixture.h"

namespace nereid::ops {
namespace {

using Texts = std::vector<std::string>;

TEST(StringConcat, texts_broadcast) {
  EXPECT_EQ(run_op("string_concat", {texts({2}, {"a", "b"}), texts({1}, {"x"})})[0].strings, (Texts{"ax", "bx"}));
  EXPECT_EQ(refusal("string_concat", {texts({2}, {"a", "b"}), texts({3}, {"", "", ""})}),
            "a string[2] and b string[3] do not broadcast");
  EXPECT_EQ(refusal("string_concat", {texts({1}, {"a"}), f32({1}, {0})}), "b f32[1] should be string");
}

TEST(StringSplit, at_a_delimiter_or_at_white_space) {
  auto r = run_op("string_split", {texts({2}, {"a,,b", ""})}, {{"delimiter", ","}});
  EXPECT_EQ(r[0].sizes, (Ints{2, 3}));
  EXPECT_EQ(r[0].strings, (Texts{"a", "", "b", "", "", ""}));
  EXPECT_EQ(values_of(r[1]), (Numbers{3, 1}));
  r = run_op("string_split", {texts({2}, {" a  b c ", " "})});
  EXPECT_EQ(r[0].strings, (Texts{"a", "b", "c", "", "", ""}));
  EXPECT_EQ(values_of(r[1]), (Numbers{3, 0}));
  r = run_op("string_split", {texts({1}, {" a  b c "})}, {{"maxsplit", int64_t{1}}});
  EXPECT_EQ(r[0].strings, (Texts{"a", "b c "}));
  EXPECT_EQ(run_op("string_split", {texts({1}, {"a-b-c"})}, {{"delimiter", "-"}, {"maxsplit", int64_t{1}}})[0].strings,
            (Texts{"a", "b-c"}));
  EXPECT_EQ(run_op("string_split", {texts({0}, {})})[0].sizes, (Ints{0, 0}));
  EXPECT_EQ(refusal("string_split", {texts({1}, {"a"})}, {{"maxsplit", int64_t{-2}}}),
            "maxsplit is -2 and should be at least -1");
}

TEST(StringNormalizer, stop_words_go_and_letters_change) {
  const Tensor x = texts({3}, {"Monday", "ÄPFEL", "tuesday"});
  const Attrs attrs = {{"case_change_action", "LOWER"}, {"stopwords", Texts{"MONDAY"}}};
  EXPECT_EQ(run_op("string_normalizer", {x}, attrs)[0].strings, (Texts{"äpfel", "tuesday"}));
  Attrs strict = attrs;
  strict.set("is_case_sensitive", true);
  EXPECT_EQ(run_op("string_normalizer", {x}, strict)[0].strings, (Texts{"monday", "äpfel", "tuesday"}));
  const Tensor nothing = run_op("string_normalizer", {texts({1, 1}, {"monday"})}, attrs)[0];
  EXPECT_EQ(nothing.sizes, (Ints{1, 1}));
  EXPECT_EQ(nothing.strings, (Texts{""}));
  EXPECT_EQ(run_op("string_normalizer",
                   {texts({1}, {"\xff"
                                "A"})},
                   attrs)[0]
                .strings,
            (Texts{"\xff"
                   "a"}));
  EXPECT_EQ(refusal("string_normalizer", {texts({2, 1}, {"a", "b"})}),
            "dimension 0 of x string[2, 1] should be 1 (one row)");
  EXPECT_EQ(refusal("string_normalizer", {x}, {{"case_change_action", "TITLE"}}),
            "case_change_action is 'TITLE' and should be LOWER, UPPER or NONE");
}

TEST(RegexFullMatch, the_whole_text_must_match) {
  const Tensor x = texts({4}, {"ab", "abc", "ab\n", "b"});
  EXPECT_EQ(values_of(run_op("regex_full_match", {x}, {{"pattern", "a?b$"}})[0]), (Numbers{1, 0, 0, 1}));
  EXPECT_EQ(values_of(run_op("regex_full_match", {texts({1}, {"\xff"})}, {{"pattern", "."}})[0]), (Numbers{0}));
  EXPECT_EQ(refusal("regex_full_match", {x}, {{"pattern", "a("}}),
            "the pattern 'a(' is no regular expression: missing closing parenthesis at character 2");
  EXPECT_EQ(refusal("regex_full_match", {texts({1}, {std::string(40, 'a') + "b"})}, {{"pattern", "(a+)+"}}),
            "matching x[0] against '(a+)+' was given up: match limit exceeded");
}

Attrs grams(const char* mode) {
  return {{"mode", mode},
          {"min_gram_length", int64_t{1}},
          {"max_gram_length", int64_t{2}},
          {"max_skip_count", int64_t{1}},
          {"ngram_counts", Ints{0, 2}},
          {"ngram_indexes", Ints{2, 1, 0}},
          {"pool_int64s", Ints{1, 3, 1, 2}},
          {"weights", Numbers{2, 3, 5}}};
}

TEST(TfIdfVectorizer, n_grams_are_counted_and_weighted) {
  const Tensor x = i64({2, 4}, {1, 2, 1, 2, 1, 3, 2, 3});
  EXPECT_THAT(numbers_of("tf_idf_vectorizer", {x}, grams("TF")), near({2, 0, 2, 1, 2, 1}, 0));
  EXPECT_THAT(numbers_of("tf_idf_vectorizer", {x}, grams("IDF")), near({5, 0, 2, 5, 3, 2}, 0));
  EXPECT_THAT(numbers_of("tf_idf_vectorizer", {x}, grams("TFIDF")), near({10, 0, 4, 5, 6, 2}, 0));
  EXPECT_EQ(run_op("tf_idf_vectorizer", {ints({1})}, grams("TF"))[0].sizes, (Ints{3}));
}

TEST(TfIdfVectorizer, hostile_attributes_are_refused) {
  const Tensor x = ints({1, 2});
  const auto with = [&](const char* name, AttrValue value) {
    Attrs attrs = grams("TF");
    attrs.set(name, std::move(value));
    return attrs;
  };
  EXPECT_EQ(run_op("tf_idf_vectorizer", {x}, with("max_skip_count", INT64_MAX))[0].sizes, (Ints{3}));
  EXPECT_EQ(run_op("tf_idf_vectorizer", {x}, with("max_gram_length", INT64_MAX))[0].sizes, (Ints{3}));
  EXPECT_EQ(refusal("tf_idf_vectorizer", {x}, with("mode", "DF")), "mode is 'DF' and should be TF, IDF or TFIDF");
  EXPECT_EQ(refusal("tf_idf_vectorizer", {x}, with("ngram_indexes", Ints{0, -1, 2})),
            "ngram_indexes holds -1, which is no place");
  EXPECT_EQ(refusal("tf_idf_vectorizer", {x}, with("ngram_indexes", Ints{2})), "there are 3 weights for 1 n-grams");
  EXPECT_EQ(refusal("tf_idf_vectorizer", {x}, with("pool_int64s", Ints{1, 3, 1, 2, 1, 3})),
            "the pool has 4 n-grams, but ngram_indexes has 3 entries");
  EXPECT_EQ(refusal("tf_idf_vectorizer", {x}, with("ngram_counts", Ints{0, 3})),
            "the pool has 1 parts for 2-grams, which is no multiple");
  EXPECT_EQ(refusal("tf_idf_vectorizer", {x}, with("ngram_counts", Ints{3, 1})),
            "ngram_counts[0] is 3 and should lie between 0 and the next one, or the end of the pool");
  EXPECT_EQ(refusal("tf_idf_vectorizer", {x}, with("weights", Numbers{1})), "there are 1 weights for 3 n-grams");
  EXPECT_EQ(refusal("tf_idf_vectorizer", {texts({1}, {"a"})}, grams("TF")),
            "x string[1] should come with pool_strings alone");
}

}  // namespace
}  // namespace nereid::ops
