// SPDX-License-Identifier: Apache-2.0
// Guesses of a draft model: what it would say itself, whatever was asked before; and what it refuses.
#include "llm/run/draft_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "llm/run/generate.h"
#include "llm/run/tiny_model.h"

namespace nereid::llm {
namespace {

using ::testing::HasSubstr;
using testing::tiny_expected;
using testing::TinyModel;

struct Guesser {
  explicit Guesser(const std::string& draft_name, DraftOptions options = {.answers = 3, .step_tokens = 8})
      : draft_name_(draft_name), model("tiny-llama"), draft(draft_name, DraftModel::load_options(options)) {
    drafts = DraftModel::make(*draft.model, *model.model, options).value();
  }
  std::vector<int32_t> guess(uint64_t answer, const std::vector<int32_t>& history, int32_t most,
                             sample::SamplingParams params = {.temperature = 0}, uint64_t step = 0) {
    Drawer drawer = model.model->samplers().make(params).value();
    drawer.sampler.set_step(step);
    std::vector<int32_t> out;
    std::vector<int32_t>* const outs[] = {&out};
    const DraftAsk asks[] = {{.answer = answer, .history = history, .drawer = &drawer.sampler, .most = most}};
    const Status status = drafts->guess(asks, outs);
    EXPECT_TRUE(status.is_ok()) << status.message();
    return out;
  }
  // What the draft itself goes on with.
  std::vector<int32_t> own(const std::vector<int32_t>& prompt, int32_t count, sample::SamplingParams params) {
    TinyModel alone(draft_name_);
    Generator generator(*alone.model);
    params.max_tokens = count;
    params.ignore_eos = 1;
    return generator.generate(prompt, params).value().tokens;
  }
  std::string draft_name_;
  TinyModel model, draft;
  std::unique_ptr<DraftModel> drafts;
};

TEST(DraftModel, greedy_guesses_are_what_the_draft_would_say) {
  Guesser g("tiny-qwen2");
  const auto expected = tiny_expected("tiny-qwen2");
  std::vector<int32_t> text = expected.prompt_tokens;
  EXPECT_EQ(g.guess(1, text, 6),
            std::vector<int32_t>(expected.greedy_tokens.begin(), expected.greedy_tokens.begin() + 6));
  // The text goes on otherwise than guessed, is cut short, and goes on as guessed.
  text.push_back(expected.greedy_tokens[0] == 65 ? 66 : 65);
  const auto other = g.guess(1, text, 4);
  EXPECT_EQ(other, g.guess(2, text, 4));
  EXPECT_EQ(g.guess(1, expected.prompt_tokens, 2),
            std::vector<int32_t>(expected.greedy_tokens.begin(), expected.greedy_tokens.begin() + 2));
  text = expected.prompt_tokens;
  text.insert(text.end(), expected.greedy_tokens.begin(), expected.greedy_tokens.begin() + 5);
  EXPECT_EQ(g.guess(1, text, 3),
            std::vector<int32_t>(expected.greedy_tokens.begin() + 5, expected.greedy_tokens.begin() + 8));
}

TEST(DraftModel, many_answers_are_guessed_side_by_side_and_the_oldest_forgotten) {
  Guesser g("tiny-qwen2");
  std::vector<std::vector<int32_t>> texts;
  for (int32_t i = 0; i < 7; ++i) {
    texts.emplace_back();
    for (int32_t t = 0; t < 5 + 4 * i; ++t) texts.back().push_back((7 * t * t + 31 * i + 3) % 256);
  }
  std::vector<std::vector<int32_t>> alone;
  for (size_t i = 0; i < texts.size(); ++i) {
    Guesser other("tiny-qwen2");
    alone.push_back(other.guess(9, texts[i], 4));
  }
  // One by one, more than are remembered; then three at once.
  for (size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(g.guess(i, texts[i], 4), alone[i]) << i;
  for (size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(g.guess(i, texts[i], 4), alone[i]) << i;
  Drawer drawer = g.model.model->samplers().make({.temperature = 0}).value();
  std::vector<std::vector<int32_t>> out(5);
  std::vector<DraftAsk> asks;
  std::vector<std::vector<int32_t>*> outs;
  for (size_t i = 0; i < 5; ++i) {
    asks.push_back({.answer = i, .history = texts[i], .drawer = &drawer.sampler, .most = i == 1 ? 2 : 4});
    outs.push_back(&out[i]);
  }
  ASSERT_TRUE(g.drafts->guess(asks, outs).is_ok());
  EXPECT_EQ(out[0], alone[0]);
  EXPECT_EQ(out[1], std::vector<int32_t>(alone[1].begin(), alone[1].begin() + 2));
  EXPECT_EQ(out[2], alone[2]);
  EXPECT_TRUE(out[3].empty() && out[4].empty());  // three are remembered at a time
}

TEST(DraftModel, drawn_guesses_use_the_numbers_that_the_answer_will_be_drawn_with) {
  Guesser g("tiny-qwen2");
  const auto expected = tiny_expected("tiny-qwen2");
  const sample::SamplingParams params{.temperature = 0.8F, .top_k = 40, .seed = 77};
  EXPECT_EQ(g.guess(1, expected.prompt_tokens, 5, params), g.own(expected.prompt_tokens, 5, params));
}

TEST(DraftModel, a_text_past_the_drafts_context_is_not_guessed) {
  Guesser g("tiny-qwen2");
  const auto context = static_cast<size_t>(g.draft.model->context_tokens());
  EXPECT_TRUE(g.guess(1, std::vector<int32_t>(context - 2, 65), 3).empty());
  EXPECT_EQ(g.guess(1, std::vector<int32_t>(context - 3, 65), 3).size(), 3U);
  EXPECT_TRUE(g.guess(1, {65}, 0).empty());
}

TEST(DraftModel, a_draft_that_was_loaded_for_less_is_refused) {
  TinyModel model("tiny-llama"), draft("tiny-qwen2");
  EXPECT_THAT(DraftModel::make(*draft.model, *model.model, {.answers = 4}).status().message(),
              HasSubstr("a draft for 4 answers was loaded for 1 sequences"));
}

}  // namespace
}  // namespace nereid::llm
