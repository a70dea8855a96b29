// SPDX-License-Identifier: Apache-2.0
#include "llm/run/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "llm/run/tiny_model.h"
#include "llm/sample/stop_matcher.h"

namespace nereid::llm {
namespace {

using testing::Expected;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::tiny_expected;
using testing::TinyModel;

constexpr const char* kName = "tiny-qwen3";
constexpr int32_t kEndToken = 261;  // of all tiny models

std::vector<int32_t> answer(TinyModel& tiny, const sample::SamplingParams& params) {
  Generator generator(*tiny.model);
  const Result<Generated> generated = generator.generate(tiny_expected(kName).prompt_tokens, params);
  EXPECT_TRUE(generated.is_ok()) << generated.status().message();
  return generated.is_ok() ? generated->tokens : std::vector<int32_t>();
}

class EveryTinyModel : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Generate, EveryTinyModel,
                         ::testing::Values("tiny-llama", "tiny-qwen2", "tiny-qwen3", "tiny-gemma3"),
                         [](const auto& row) { return std::string(row.param).substr(5); });

TEST_P(EveryTinyModel, answers_what_the_original_framework_answers) {
  TinyModel tiny(GetParam());
  const Expected expected = tiny_expected(GetParam());
  const auto prompt = tiny.model->tokenizer().encode(expected.prompt);
  EXPECT_EQ(prompt, expected.prompt_tokens);
  Generator generator(*tiny.model);
  const Generated got = generator.generate(prompt, {.max_tokens = 24}).value();
  EXPECT_EQ(got.tokens, expected.greedy_tokens);
  EXPECT_EQ(got.finish_reason, FinishReason::kLength);
  EXPECT_EQ(got.prompt_tokens, static_cast<int64_t>(prompt.size()));
}

TEST_P(EveryTinyModel, answers_the_same_however_the_prompt_is_cut_into_steps) {
  const Expected expected = tiny_expected(GetParam());
  for (int64_t step_tokens : {1, 5, 16}) {
    TinyModel tiny(GetParam(), {.step_tokens = step_tokens});
    Generator generator(*tiny.model);
    EXPECT_EQ(generator.generate(expected.prompt_tokens, {.max_tokens = 24})->tokens, expected.greedy_tokens)
        << "steps of " << step_tokens;
  }
}

TEST(Generate, the_number_of_threads_changes_no_bit_of_the_logits) {
  const Expected expected = tiny_expected(kName);
  std::vector<float> logits;
  for (int threads : {1, 2, 3}) {
    TinyModel tiny(kName, {}, threads);
    Generator generator(*tiny.model);
    ASSERT_TRUE(generator.generate(expected.prompt_tokens, {.max_tokens = 12}).is_ok());
    const std::span<float> now = tiny.model->logits(0);
    if (logits.empty()) logits.assign(now.begin(), now.end());
    EXPECT_TRUE(std::equal(now.begin(), now.end(), logits.begin(), logits.end())) << threads << " threads";
  }
}

TEST(Generate, a_prompt_that_begins_as_the_last_one_is_computed_only_from_where_it_differs) {
  TinyModel tiny(kName);
  std::vector<int32_t> prompt = tiny_expected(kName).prompt_tokens;
  Generator generator(*tiny.model);
  const Generated first = generator.generate(prompt, {.max_tokens = 8}).value();
  EXPECT_EQ(first.reused_tokens, 0);

  // The next turn of a conversation: all but the last answered token is in the cache.
  std::vector<int32_t> longer = prompt;
  longer.insert(longer.end(), first.tokens.begin(), first.tokens.end());
  longer.insert(longer.end(), {40, 41, 42});
  const Generated second = generator.generate(longer, {.max_tokens = 8}).value();
  EXPECT_EQ(second.reused_tokens, static_cast<int64_t>(prompt.size()) + 7);
  generator.reset();
  const Generated fresh = generator.generate(longer, {.max_tokens = 8}).value();
  EXPECT_EQ(fresh.reused_tokens, 0);
  EXPECT_EQ(second.tokens, fresh.tokens);

  // The same again: only its last token, whose logits are needed.
  EXPECT_EQ(generator.generate(longer, {.max_tokens = 8})->reused_tokens, static_cast<int64_t>(longer.size()) - 1);
  prompt[3] = 99;
  EXPECT_EQ(generator.generate(prompt, {.max_tokens = 8})->reused_tokens, 3);
}

TEST(Generate, a_stop_text_ends_the_answer_and_is_left_out_of_it) {
  TinyModel tiny("tiny-llama");
  const Expected expected = tiny_expected("tiny-llama");  // its fourth token is the byte '5'
  Generator generator(*tiny.model);
  const Generated got = generator.generate(expected.prompt_tokens, {.max_tokens = 24, .stop = {"5"}}).value();
  EXPECT_EQ(got.finish_reason, FinishReason::kStop);
  EXPECT_THAT(got.tokens, SizeIs(4));
  EXPECT_EQ(got.text.find('5'), std::string::npos);
  // Held back until it is certain that no stop text begins, then handed on.
  const Generated all = generator.generate(expected.prompt_tokens, {.max_tokens = 4, .stop = {"5 and more"}}).value();
  EXPECT_EQ(all.finish_reason, FinishReason::kLength);
  EXPECT_EQ(all.text, got.text + "5");
}

TEST(Generate, pieces_are_the_text_and_each_is_whole_characters) {
  TinyModel tiny("tiny-llama");
  std::string joined;
  std::vector<int32_t> tokens;
  Generator generator(*tiny.model);
  // Only the four bytes of an emoji: most orders of them are no character.
  const sample::SamplingParams params{.temperature = 1,
                                      .seed = 3,
                                      .max_tokens = 100,
                                      .logit_bias = {{0xF0, 100.F}, {0x9F, 100.F}, {0x98, 100.F}, {0x80, 100.F}}};
  const Generated got = generator
                            .generate(tiny_expected("tiny-llama").prompt_tokens, params,
                                      [&](const Piece& piece) {
                                        EXPECT_EQ(sample::unfinished_utf8(piece.text), 0U);
                                        joined += piece.text;
                                        if (piece.token >= 0) tokens.push_back(piece.token);
                                        return true;
                                      })
                            .value();
  EXPECT_EQ(joined, got.text);
  EXPECT_EQ(tokens, got.tokens);
  EXPECT_THAT(got.text, HasSubstr("\xEF\xBF\xBD"));
}

TEST(Generate, an_end_token_ends_the_answer_and_is_left_out) {
  TinyModel tiny(kName);
  const std::map<int32_t, float> wants_to_end = {{kEndToken, 1000.F}};
  EXPECT_THAT(answer(tiny, {.max_tokens = 9, .logit_bias = wants_to_end}), IsEmpty());
  EXPECT_THAT(answer(tiny, {.max_tokens = 9, .min_tokens = 5, .logit_bias = wants_to_end}), SizeIs(5));
  const auto ignoring = answer(tiny, {.max_tokens = 9, .ignore_eos = 1, .logit_bias = wants_to_end});
  EXPECT_EQ(ignoring, answer(tiny, {.max_tokens = 9, .ignore_eos = 1}));
  EXPECT_THAT(ignoring, SizeIs(9));
}

TEST(Generate, an_answer_ends_where_the_context_does) {
  const std::vector<int32_t> prompt = tiny_expected(kName).prompt_tokens;
  TinyModel tiny(kName, {.context_tokens = static_cast<int64_t>(prompt.size()) + 3});
  Generator generator(*tiny.model);
  const Generated got = generator.generate(prompt, {.max_tokens = 24}).value();
  EXPECT_EQ(got.finish_reason, FinishReason::kLength);
  EXPECT_THAT(got.tokens, SizeIs(4));  // the last one needs no place
}

TEST(Generate, a_prompt_that_does_not_fit_is_refused_with_both_lengths) {
  TinyModel tiny(kName, {.context_tokens = 10});
  Generator generator(*tiny.model);
  const std::vector<int32_t> prompt(11, 65);
  const Status s = generator.generate(prompt, {}).status();
  EXPECT_EQ(s.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(s.message(), "the prompt has 11 tokens, more than the context of 10");
  EXPECT_TRUE(generator.generate(std::span(prompt).first(10), {.max_tokens = 1}).is_ok());
}

TEST(Generate, prompts_and_parameters_that_make_no_sense_are_refused) {
  TinyModel tiny(kName);
  Generator generator(*tiny.model);
  const auto code = [&](std::vector<int32_t> prompt, const sample::SamplingParams& params) {
    return generator.generate(prompt, params).status().code();
  };
  EXPECT_EQ(code({}, {}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({-1}, {}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({264}, {}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({1}, {.temperature = -1}), StatusCode::kInvalidArgument);
}

TEST(Generate, the_callback_and_the_stop_function_cancel_and_keep_what_there_is) {
  TinyModel tiny(kName);
  const std::vector<int32_t> prompt = tiny_expected(kName).prompt_tokens;
  Generator generator(*tiny.model);
  int pieces = 0;
  const Generated three =
      generator.generate(prompt, {.max_tokens = 24}, [&](const Piece&) { return ++pieces < 3; }).value();
  EXPECT_EQ(three.finish_reason, FinishReason::kCancelled);
  EXPECT_THAT(three.tokens, SizeIs(3));

  bool stop = true;
  Generator stopping(*tiny.model, 0, [&] { return stop; });
  const Generated nothing = stopping.generate(prompt, {.max_tokens = 24}).value();
  EXPECT_EQ(nothing.finish_reason, FinishReason::kCancelled);
  EXPECT_THAT(nothing.tokens, IsEmpty());
  stop = false;
  EXPECT_EQ(stopping.generate(prompt, {.max_tokens = 24})->tokens, tiny_expected(kName).greedy_tokens);
}

TEST(Generate, the_same_seed_draws_the_same_answer) {
  TinyModel tiny(kName);
  const auto draw = [&](uint64_t seed) { return answer(tiny, {.temperature = 1.5F, .seed = seed, .max_tokens = 16}); };
  EXPECT_EQ(draw(1), draw(1));
  EXPECT_NE(draw(1), draw(2));
}

TEST(Generate, log_probabilities_come_with_each_piece) {
  TinyModel tiny(kName);
  Generator generator(*tiny.model);
  int pieces = 0;
  const auto on_piece = [&](const Piece& piece) {
    if (!piece.sample) return true;
    ++pieces;
    EXPECT_THAT(piece.sample->top, SizeIs(3));
    EXPECT_EQ(piece.sample->top[0].token, piece.token);
    EXPECT_EQ(piece.sample->top[0].logprob, piece.sample->logprob);
    EXPECT_LE(piece.sample->logprob, 0);
    return true;
  };
  const auto params = sample::SamplingParams{.logprobs = 3, .max_tokens = 6};
  ASSERT_TRUE(generator.generate(tiny_expected(kName).prompt_tokens, params, on_piece).is_ok());
  EXPECT_EQ(pieces, 6);
}

TEST(Generate, no_tokens_asked_for_is_an_empty_answer) {
  TinyModel tiny(kName);
  Generator generator(*tiny.model);
  const Generated got = generator.generate(tiny_expected(kName).prompt_tokens, {.max_tokens = 0}).value();
  EXPECT_THAT(got.tokens, IsEmpty());
  EXPECT_EQ(got.finish_reason, FinishReason::kLength);
}

}  // namespace
}  // namespace nereid::llm
