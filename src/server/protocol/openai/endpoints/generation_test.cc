// SPDX-License-Identifier: Apache-2.0
// What happens to a request that nobody waits for, that the model refuses, or that fails on its way.
#include "server/protocol/openai/endpoints/generation.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <limits>
#include <utility>

#include "server/protocol/openai/endpoints/test_exchange.h"

namespace nereid::server::openai {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// A model whose answers wait until the test lets them go.
struct HeldModel {
  std::vector<std::function<void()>> work;
  std::shared_ptr<TestTextModel> model;

  explicit HeldModel(size_t queue = SIZE_MAX) {
    TestTextModelOptions options;
    options.run = [this](std::function<void()> one) { work.push_back(std::move(one)); };
    options.queue = queue;
    model = std::make_shared<TestTextModel>(std::move(options));
  }
  void run_all() {
    for (const auto& one : std::exchange(work, {})) one();
  }
};

constexpr std::string_view kTwoPrompts = R"({"prompt":["say{a b c}","say{d e f}"],"stream":true})";

TEST(Generation, nothing_is_sent_before_there_is_something_to_say) {
  HeldModel held;
  const auto responder = ask(held.model, "POST", "/v1/completions", kTwoPrompts);
  EXPECT_FALSE(responder->has_started());
  EXPECT_EQ(held.model->running(), 2);
  held.run_all();
  EXPECT_TRUE(responder->has_started());
  EXPECT_TRUE(responder->is_complete());
  EXPECT_TRUE(responder->response().body.ends_with("data: [DONE]\n\n"));
}

TEST(Generation, a_client_that_goes_away_cancels_all_it_asked_for) {
  HeldModel held;
  const auto responder = ask(held.model, "POST", "/v1/completions", kTwoPrompts);
  responder->vanish();
  held.run_all();
  EXPECT_EQ(held.model->running(), 0);
  EXPECT_EQ(responder->response().body.find("\"text\""), std::string::npos);  // cancelled before the first token
}

TEST(Generation, a_refusal_of_one_prompt_cancels_the_others) {
  HeldModel held(1);
  const auto responder = ask(held.model, "POST", "/v1/completions", kTwoPrompts);
  EXPECT_EQ(responder->response().status, 429);
  EXPECT_EQ(responder->response().headers.get("Retry-After"), "1");
  EXPECT_TRUE(responder->is_complete());
  held.run_all();
  EXPECT_EQ(held.model->running(), 0);
  EXPECT_EQ(responder->response().body.find("\"text\""), std::string::npos);
}

TEST(Generation, what_a_body_says_reaches_the_model) {
  const auto model = std::make_shared<TestTextModel>();
  ask(model, "POST", "/v1/completions",
      R"({"prompt":"a","n":2,"seed":-1,"temperature":0.5,"top_k":-1,"min_p":0.1,"repeat_penalty":1.5,"ignore_eos":true,)"
      R"("logit_bias":{"7":-100,"8":2},"stop":"x","stop_token_ids":[3],"bad_words":["no"],"user":"ada","priority":4,)"
      R"("timeout":1.5,"guided_choice":["a","b"]})");
  const TextRequest request = model->last();
  EXPECT_EQ(request.choices, 2);
  EXPECT_EQ(request.params.seed, UINT64_MAX);
  EXPECT_EQ(request.params.temperature, 0.5F);
  EXPECT_EQ(request.params.top_k, 0);
  EXPECT_EQ(request.params.min_p, 0.1F);
  EXPECT_EQ(request.params.repetition_penalty, 1.5F);
  EXPECT_EQ(request.params.ignore_eos, 1);
  EXPECT_EQ(request.params.max_tokens, 16);
  EXPECT_EQ(request.params.logit_bias.at(7), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(request.params.logit_bias.at(8), 2.0F);
  EXPECT_EQ(request.params.stop, std::vector<std::string>{"x"});
  EXPECT_EQ(request.params.stop_token_ids, std::vector<int32_t>{3});
  EXPECT_EQ(request.params.bad_words, std::vector<std::string>{"no"});
  EXPECT_EQ(request.params.grammar.kind, sample::GrammarKind::kChoice);
  EXPECT_EQ(request.user, "ada");
  EXPECT_EQ(request.priority, 4);
  EXPECT_EQ(request.timeout_us, 1'500'000);
}

TEST(Generation, openai_draws_where_the_library_is_greedy) {
  const auto model = std::make_shared<TestTextModel>();
  ask(model, "POST", "/v1/completions", R"({"prompt":"a"})");
  EXPECT_EQ(model->last().params.temperature, 1.0F);
}

TEST(Generation, a_chat_without_max_tokens_may_fill_the_context) {
  const auto model = std::make_shared<TestTextModel>();
  ask(model, "POST", "/v1/chat/completions", R"({"messages":[{"role":"user","content":"Hi"}]})");
  EXPECT_EQ(model->last().params.max_tokens,
            model->card().context_tokens - static_cast<int64_t>(model->last().prompt.size()));
}

TEST(Generation, a_request_has_no_more_priority_than_the_server_gives) {
  const auto model = std::make_shared<TestTextModel>();
  for (const auto& [asked, given] : {std::pair{2, 2}, {3, 3}, {2'000'000'000, 3}, {-7, -7}}) {
    ask(model, "POST", "/v1/completions", fmt::format(R"({{"prompt":"a","priority":{}}})", asked), 3);
    EXPECT_EQ(model->last().priority, given);
    ask(model, "POST", "/v1/chat/completions",
        fmt::format(R"({{"messages":[{{"role":"user","content":"a"}}],"priority":{}}})", asked), 3);
    EXPECT_EQ(model->last().priority, given);
  }
}

// A model that thinks, asked for what it is told to say.
std::string thinks(std::string_view say, std::string_view more, std::string_view target = "/v1/chat/completions") {
  TestTextModelOptions options;
  options.card.thought_format = "think";
  const auto model = std::make_shared<TestTextModel>(options);
  const bool is_chat = target == "/v1/chat/completions";
  const std::string body = is_chat
                               ? fmt::format(R"({{"messages":[{{"role":"user","content":"say{{{}}}"}}]{}}})", say, more)
                               : fmt::format(R"({{"input":"say{{{}}}"{}}})", say, more);
  return ask(model, "POST", target, body)->response().body;
}
constexpr std::string_view kThinks = R"(<think>\nhm, so\n</think>\n\nYes.)";

TEST(Generation, thoughts_are_told_apart_from_the_answer) {
  const std::string body = thinks(kThinks, "");
  EXPECT_THAT(body, HasSubstr(R"("content":"Yes.","reasoning_content":"hm, so","refusal":null)"));
  EXPECT_THAT(body, HasSubstr(R"("completion_tokens_details":{"reasoning_tokens":)"));
  const std::string events = thinks(kThinks, R"(,"stream":true)");
  EXPECT_THAT(events, HasSubstr(R"("delta":{"reasoning_content":"hm"})"));
  EXPECT_THAT(events, HasSubstr(R"("delta":{"content":"Yes"})"));
  EXPECT_THAT(events, Not(HasSubstr("think>")));
}

TEST(Generation, thoughts_stay_where_they_are_or_go_where_that_is_asked_for) {
  for (const char* more : {R"(,"separate_reasoning":false)", R"(,"reasoning_format":"none")"})
    EXPECT_THAT(thinks(kThinks, more), HasSubstr(R"("content":"<think>\nhm, so\n</think>\n\nYes.")")) << more;
  const std::string dropped = thinks(kThinks, R"(,"include_reasoning":false)");
  EXPECT_THAT(dropped, HasSubstr(R"("content":"Yes.","refusal":null)"));
  EXPECT_THAT(dropped, Not(HasSubstr("hm")));
}

TEST(Generation, calls_of_tools_follow_thoughts) {
  const std::string body =
      thinks(R"(<think>rain?</think><tool_call>{\"name\": \"rain\", \"arguments\": {}}</tool_call>)",
             R"(,"tools":[{"type":"function","function":{"name":"rain"}}])");
  EXPECT_THAT(body, HasSubstr(R"("reasoning_content":"rain?")"));
  EXPECT_THAT(body, HasSubstr(R"("function":{"name":"rain","arguments":"{}"})"));
}

TEST(Generation, a_response_has_an_item_for_thoughts) {
  const std::string body = thinks(kThinks, "", "/v1/responses");
  EXPECT_THAT(body, HasSubstr(R"("type":"reasoning","status":"completed","summary":[],)"
                              R"("content":[{"type":"reasoning_text","text":"hm, so"}])"));
  EXPECT_THAT(body, HasSubstr(R"({"type":"output_text","text":"Yes.")"));
  const std::string events = thinks(kThinks, R"(,"stream":true)", "/v1/responses");
  EXPECT_THAT(events, HasSubstr("event: response.reasoning_text.delta\n"));
  EXPECT_THAT(events, HasSubstr("event: response.reasoning_text.done\n"));
}

// A chat whose prompt ends with the mark that begins thoughts, to be answered in JSON.
std::pair<TextRequest, std::string> asked_in_thought(const TestTextModelOptions& options, std::string_view say) {
  const auto model = std::make_shared<TestTextModel>(options);
  const auto responder =
      ask(model, "POST", "/v1/chat/completions",
          fmt::format(R"({{"messages":[{{"role":"user","content":"say{{{}}} <think>"}}],)"
                      R"("add_generation_prompt":false,"response_format":{{"type":"json_object"}}}})",
                      say));
  EXPECT_THAT(responder->response().body, HasSubstr(R"("content":"{}")"));
  TextRequest asked = model->last();
  std::string prompt = *model->detokenize(asked.prompt);
  return {std::move(asked), std::move(prompt)};
}

TEST(Generation, a_form_comes_after_the_thoughts_that_the_prompt_has_begun) {
  TestTextModelOptions options;
  options.card.thought_format = "think";
  const auto [asked, prompt] = asked_in_thought(options, "hm</think>{}");
  EXPECT_EQ(asked.params.grammar.kind, sample::GrammarKind::kStructuralTag);
  EXPECT_THAT(asked.params.grammar.text, HasSubstr(R"("end":"</think>")"));
}

TEST(Generation, a_prompt_ends_thoughts_itself_where_no_grammar_could) {
  TestTextModelOptions options;
  options.card.thought_format = "think";
  options.special.push_back("</think>");
  const auto [asked, prompt] = asked_in_thought(options, "{}");
  EXPECT_EQ(asked.params.grammar.kind, sample::GrammarKind::kJson);
  EXPECT_THAT(prompt, EndsWith("<think>\n</think>\n\n"));
}

TEST(Generation, what_the_client_wants_in_a_form_has_no_thoughts) {
  EXPECT_THAT(thinks(kThinks, R"(,"response_format":{"type":"json_object"})"), Not(HasSubstr("reasoning_content")));
}

TEST(Generation, the_model_is_asked_for_the_best_answers) {
  const auto model = std::make_shared<TestTextModel>();
  const auto responder = ask(model, "POST", "/v1/completions", R"({"prompt":"a","best_of":3})");
  EXPECT_EQ(model->last().choices, 1);
  EXPECT_EQ(model->last().params.best_of, 3);
  EXPECT_NE(responder->response().body.find(R"("logprobs":null)"), std::string::npos);
}

}  // namespace
}  // namespace nereid::server::openai
