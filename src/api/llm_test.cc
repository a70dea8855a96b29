// SPDX-License-Identifier: Apache-2.0
// Language models through the C interface: what is told is what the model answers alone, and misuse is a sentence.
#include "nereid/llm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "llm/run/generate.h"
#include "llm/run/tiny_adapter.h"
#include "llm/run/tiny_model.h"

namespace nereid::api::testing {
namespace {

using ::testing::HasSubstr;

struct Heard {
  std::vector<int32_t> tokens;
  std::string text, error;
  nereid_llm_finish finish = NEREID_LLM_RUNNING;
  nereid_status status = NEREID_OK;
  nereid_llm_id id = 0;
  int64_t prompt_tokens = 0, answer_tokens = 0;
  nereid_llm* closes = nullptr;   // tried from within, and refused
  nereid_llm* cancels = nullptr;  // itself, at its first token
  static void hear(void* user, const nereid_llm_output* output) {
    auto& heard = *static_cast<Heard*>(user);
    if (output->token >= 0) heard.tokens.push_back(output->token);
    heard.text.append(output->text.data, output->text.size);
    heard.id = output->id;
    if (heard.closes != nullptr) {
      EXPECT_EQ(nereid_llm_close(&heard.closes), NEREID_INVALID_ARGUMENT);
      EXPECT_EQ(nereid_llm_wait(heard.closes, output->id, -1), NEREID_INVALID_ARGUMENT);
    }
    if (heard.cancels != nullptr) {
      EXPECT_EQ(nereid_llm_cancel(heard.cancels, output->id), NEREID_OK);
    }
    if (output->finish == NEREID_LLM_RUNNING) return;
    heard.finish = output->finish;
    heard.status = output->status;
    heard.error = output->error;
    heard.prompt_tokens = output->prompt_tokens;
    heard.answer_tokens = output->answer_tokens;
  }
};

class ApiLlm : public ::testing::Test {
 protected:
  ApiLlm() {
    ::setenv("NEREID_CACHE_DIR", cache_.path().c_str(), 1);
    nereid_llm_options options = NEREID_LLM_OPTIONS_INIT;
    options.threads = 1;
    options.max_sequences = 4;
    EXPECT_EQ(nereid_llm_open(llm::testing::tiny_path("tiny-qwen3.gguf").c_str(), &options, &llm_), NEREID_OK)
        << nereid_last_error();
  }
  ~ApiLlm() override {
    EXPECT_EQ(nereid_llm_close(&llm_), NEREID_OK);
    EXPECT_EQ(llm_, nullptr);
  }
  nereid_llm_id enqueue(const nereid_llm_request& request, Heard* heard) {
    nereid_llm_id id = 0;
    EXPECT_EQ(nereid_llm_enqueue(llm_, &request, Heard::hear, heard, &id), NEREID_OK) << nereid_last_error();
    return id;
  }
  std::string refusal(const nereid_llm_request& request) {
    EXPECT_NE(nereid_llm_enqueue(llm_, &request, nullptr, nullptr, nullptr), NEREID_OK);
    return nereid_last_error();
  }
  TestDir cache_;
  nereid_llm* llm_ = nullptr;
};

// The model opened with other options, and what it answers to the prompt of tiny-qwen3.
Heard answer_of(nereid_llm_options options, int64_t tokens, const std::string& prompt, bool* drafted = nullptr) {
  Heard heard;
  nereid_llm* llm = nullptr;
  options.threads = 1;
  EXPECT_EQ(nereid_llm_open(llm::testing::tiny_path("tiny-qwen3.gguf").c_str(), &options, &llm), NEREID_OK)
      << nereid_last_error();
  const nereid_llm_setting settings[] = {{"max_tokens", static_cast<double>(tokens)}};
  nereid_llm_request request = NEREID_LLM_REQUEST_INIT;
  request.prompt = prompt.c_str();
  request.settings = settings;
  request.setting_count = 1;
  nereid_llm_id id = 0;
  EXPECT_EQ(nereid_llm_enqueue(llm, &request, Heard::hear, &heard, &id), NEREID_OK) << nereid_last_error();
  EXPECT_EQ(nereid_llm_wait(llm, id, -1), NEREID_OK);
  if (drafted != nullptr) {
    nereid_llm_iteration steps[128]{};
    for (nereid_llm_iteration& one : steps) one.struct_size = sizeof(one);
    size_t count = 0;
    EXPECT_EQ(nereid_llm_read_iterations(llm, steps, 128, &count), NEREID_OK);
    for (size_t i = 0; i < count; ++i) *drafted |= steps[i].accepted_tokens > 0;
  }
  EXPECT_EQ(nereid_llm_close(&llm), NEREID_OK);
  return heard;
}

TEST_F(ApiLlm, a_draft_guesses_and_changes_nothing) {
  const llm::testing::Expected expected = llm::testing::tiny_expected("tiny-qwen3");
  const std::string draft = llm::testing::tiny_path("tiny-qwen3.gguf");  // itself: every guess is right
  nereid_llm_options options = NEREID_LLM_OPTIONS_INIT;
  options.draft = draft.c_str();
  options.draft_tokens = 3;
  bool drafted = false;
  EXPECT_EQ(answer_of(options, 24, expected.prompt, &drafted).tokens, expected.greedy_tokens);
  EXPECT_TRUE(drafted);
}

TEST_F(ApiLlm, keys_and_values_may_be_kept_in_eight_bits) {
  const llm::testing::Expected expected = llm::testing::tiny_expected("tiny-qwen3");
  nereid_llm_options options = NEREID_LLM_OPTIONS_INIT;
  options.kv_cache_dtype = "int8";
  options.host_memory_bytes = 1 << 20;
  EXPECT_EQ(answer_of(options, 24, expected.prompt).answer_tokens, 24);
}

TEST_F(ApiLlm, an_answer_may_go_on_past_the_context) {
  const llm::testing::Expected expected = llm::testing::tiny_expected("tiny-qwen3");
  nereid_llm_options options = NEREID_LLM_OPTIONS_INIT;
  options.context_tokens = 64;
  EXPECT_LT(answer_of(options, 200, expected.prompt).answer_tokens, 64);
  options.shifts_context = 1;
  options.shift_keep = 4;
  EXPECT_GT(answer_of(options, 200, expected.prompt).answer_tokens, 64);  // then the model itself ends it
}

TEST_F(ApiLlm, options_that_make_no_sense_are_refused) {
  const auto refused = [](auto set) {
    nereid_llm_options options = NEREID_LLM_OPTIONS_INIT;
    options.threads = 1;
    set(options);
    nereid_llm* llm = nullptr;
    EXPECT_EQ(nereid_llm_open(llm::testing::tiny_path("tiny-qwen3.gguf").c_str(), &options, &llm),
              NEREID_INVALID_ARGUMENT);
    EXPECT_EQ(llm, nullptr);
    return std::string(nereid_last_error());
  };
  EXPECT_THAT(refused([](auto& o) { o.kv_cache_dtype = "int3"; }), HasSubstr("int3"));
  EXPECT_THAT(refused([](auto& o) { o.draft_tokens = -1; }), HasSubstr("draft_tokens is -1"));
  EXPECT_THAT(refused([](auto& o) { o.shift_keep = -1; }), HasSubstr("shift_keep is -1"));
  EXPECT_THAT(refused([](auto& o) { o.host_memory_bytes = -1; }), HasSubstr("host_memory_bytes is -1"));
}

TEST_F(ApiLlm, a_request_hears_what_the_model_answers_alone) {
  const llm::testing::Expected expected = llm::testing::tiny_expected("tiny-qwen3");
  Heard by_text, by_tokens;
  const nereid_llm_setting settings[] = {{"max_tokens", 24}};
  nereid_llm_request request = NEREID_LLM_REQUEST_INIT;
  request.prompt = expected.prompt.c_str();
  request.settings = settings;
  request.setting_count = 1;
  const nereid_llm_id first = enqueue(request, &by_text);
  request.prompt = nullptr;
  request.tokens = expected.prompt_tokens.data();
  request.token_count = expected.prompt_tokens.size();
  const nereid_llm_id second = enqueue(request, &by_tokens);
  EXPECT_EQ(nereid_llm_wait(llm_, first, -1), NEREID_OK);
  EXPECT_EQ(nereid_llm_wait(llm_, second, 60'000), NEREID_OK);
  for (const Heard* heard : {&by_text, &by_tokens}) {
    EXPECT_EQ(heard->tokens, expected.greedy_tokens);
    EXPECT_EQ(heard->finish, NEREID_LLM_LENGTH);
    EXPECT_EQ(heard->prompt_tokens, static_cast<int64_t>(expected.prompt_tokens.size()));
    EXPECT_EQ(heard->answer_tokens, 24);
    EXPECT_EQ(heard->error, "");
  }
  EXPECT_EQ(by_text.id, first);
  EXPECT_EQ(by_tokens.id, second);
  nereid_llm_stats stats{};
  stats.struct_size = sizeof(stats);
  ASSERT_EQ(nereid_llm_read_stats(llm_, &stats), NEREID_OK);
  EXPECT_EQ(stats.requests_done, 2);
  EXPECT_EQ(stats.answer_tokens, 48);
  EXPECT_EQ(stats.pages_used, 0);
  nereid_llm_iteration steps[128]{};
  for (nereid_llm_iteration& one : steps) one.struct_size = sizeof(one);
  size_t count = 0;
  ASSERT_EQ(nereid_llm_read_iterations(llm_, steps, 128, &count), NEREID_OK);
  ASSERT_EQ(static_cast<int64_t>(count), stats.steps);
  int64_t prompt_tokens = 0;
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(steps[i].iteration, static_cast<int64_t>(i) + 1);
    EXPECT_EQ(steps[i].struct_size, sizeof(nereid_llm_iteration));
    prompt_tokens += steps[i].prompt_tokens;
  }
  EXPECT_EQ(prompt_tokens, stats.prompt_tokens - stats.reused_tokens);
  ASSERT_EQ(nereid_llm_read_iterations(llm_, steps, 128, &count), NEREID_OK);
  EXPECT_EQ(count, 0U);
}

TEST_F(ApiLlm, a_request_can_be_cancelled_and_waited_for) {
  Heard heard;
  const nereid_llm_setting settings[] = {{"max_tokens", 240}, {"ignore_eos", 1}};
  nereid_llm_request request = NEREID_LLM_REQUEST_INIT;
  request.prompt = "Once";
  request.settings = settings;
  request.setting_count = 2;
  heard.cancels = llm_;
  const nereid_llm_id id = enqueue(request, &heard);
  EXPECT_EQ(nereid_llm_wait(llm_, id, -1), NEREID_OK);
  EXPECT_EQ(heard.finish, NEREID_LLM_CANCELLED);
  EXPECT_EQ(heard.tokens.size(), 1U);
  EXPECT_EQ(heard.status, NEREID_OK);
  EXPECT_EQ(nereid_llm_wait(llm_, 12345, 0), NEREID_OK) << "one that never was";
}

TEST_F(ApiLlm, an_output_function_may_not_close_or_wait) {
  Heard heard;
  heard.closes = llm_;
  const nereid_llm_setting settings[] = {{"max_tokens", 2}};
  nereid_llm_request request = NEREID_LLM_REQUEST_INIT;
  request.prompt = "Once";
  request.settings = settings;
  request.setting_count = 1;
  EXPECT_EQ(nereid_llm_wait(llm_, enqueue(request, &heard), -1), NEREID_OK);
  EXPECT_EQ(heard.finish, NEREID_LLM_LENGTH);
}

TEST_F(ApiLlm, what_makes_no_sense_is_a_sentence) {
  nereid_llm_request request = NEREID_LLM_REQUEST_INIT;
  EXPECT_THAT(refusal(request), HasSubstr("a prompt or tokens"));
  request.prompt = "Once";
  request.choices = -1;
  EXPECT_THAT(refusal(request), HasSubstr("choices is -1"));
  request.choices = 0;
  nereid_llm_setting setting = {"warmth", 1};
  request.settings = &setting;
  request.setting_count = 1;
  EXPECT_THAT(refusal(request), HasSubstr("warmth"));
  setting = {"temperature", -3};
  EXPECT_THAT(refusal(request), HasSubstr("temperature"));
  request.settings = nullptr;
  EXPECT_THAT(refusal(request), HasSubstr("settings is NULL"));
  request.setting_count = 0;
  request.grammar_kind = "haiku";
  EXPECT_THAT(refusal(request), HasSubstr("haiku"));
  request.struct_size = 1;
  EXPECT_THAT(refusal(request), HasSubstr("struct_size is 1"));
  EXPECT_EQ(nereid_llm_enqueue(llm_, nullptr, nullptr, nullptr, nullptr), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_llm_enqueue(nullptr, &request, nullptr, nullptr, nullptr), NEREID_INVALID_ARGUMENT);
  nereid_llm_stats stats{};
  EXPECT_EQ(nereid_llm_read_stats(llm_, &stats), NEREID_INVALID_ARGUMENT);
  size_t count = 0;
  EXPECT_EQ(nereid_llm_read_iterations(llm_, nullptr, 1, &count), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_llm_read_iterations(nullptr, nullptr, 0, &count), NEREID_INVALID_ARGUMENT);
  nereid_llm* none = nullptr;
  nereid_llm_options lazy = NEREID_LLM_OPTIONS_INIT;
  lazy.policy = "lazy";
  EXPECT_EQ(nereid_llm_open("/nowhere.gguf", &lazy, &none), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_llm_open("/nowhere.gguf", nullptr, &none), NEREID_NOT_FOUND);
  EXPECT_EQ(nereid_llm_close(&none), NEREID_OK);
}

TEST_F(ApiLlm, texts_go_to_ids_and_back_and_say_how_long_they_are) {
  size_t count = 0;
  ASSERT_EQ(nereid_llm_tokenize(llm_, "Hello", 5, 0, 0, nullptr, 0, &count), NEREID_OK);
  std::vector<int32_t> ids(count);
  ASSERT_EQ(nereid_llm_tokenize(llm_, "Hello", 5, 0, 0, ids.data(), ids.size(), &count), NEREID_OK);
  char text[8] = "";
  size_t size = 0;
  ASSERT_EQ(nereid_llm_detokenize(llm_, ids.data(), ids.size(), text, sizeof(text), &size), NEREID_OK);
  EXPECT_EQ(std::string(text, size), "Hello");
  EXPECT_EQ(nereid_llm_detokenize(llm_, ids.data(), ids.size(), text, 2, &size), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(size, 5U);
  nereid_llm_info info{};
  info.struct_size = sizeof(info);
  ASSERT_EQ(nereid_llm_describe(llm_, &info), NEREID_OK);
  EXPECT_EQ(info.vocabulary, 264);
  EXPECT_EQ(info.max_sequences, 4);
}

TEST_F(ApiLlm, adapters_are_loaded_named_and_unloaded) {
  const llm::testing::AdaptersExpected expected = llm::testing::tiny_adapters_expected("tiny-qwen3");
  const std::string path = llm::testing::tiny_adapter_path("tiny-qwen3", "mlp");
  ASSERT_EQ(nereid_llm_load_adapter(llm_, "one", path.c_str(), 1), NEREID_OK) << nereid_last_error();
  const nereid_llm_setting settings[] = {{"max_tokens", 8}};
  nereid_llm_request request = NEREID_LLM_REQUEST_INIT;
  request.tokens = expected.prompt_tokens.data();
  request.token_count = expected.prompt_tokens.size();
  request.settings = settings;
  request.setting_count = 1;
  Heard plain, adapted;
  const nereid_llm_id first = enqueue(request, &plain);
  request.adapter = "one";
  const nereid_llm_id second = enqueue(request, &adapted);
  EXPECT_EQ(nereid_llm_wait(llm_, first, -1), NEREID_OK);
  EXPECT_EQ(nereid_llm_wait(llm_, second, -1), NEREID_OK);
  const auto begins = [&](const std::string& adapter) {
    const std::vector<int32_t>& all = expected.adapters.at(adapter).greedy_tokens;
    return std::vector<int32_t>(all.begin(), all.begin() + 8);
  };
  EXPECT_EQ(plain.tokens, begins(""));
  EXPECT_EQ(adapted.tokens, begins("mlp"));

  EXPECT_EQ(nereid_llm_load_adapter(llm_, "one", path.c_str(), 1), NEREID_INVALID_ARGUMENT);
  EXPECT_THAT(nereid_last_error(), HasSubstr("already"));
  EXPECT_EQ(nereid_llm_load_adapter(llm_, nullptr, path.c_str(), 1), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_llm_load_adapter(llm_, "two", nullptr, 1), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_llm_load_adapter(llm_, "two", "nowhere", 1), NEREID_NOT_FOUND);
  EXPECT_EQ(nereid_llm_unload_adapter(llm_, "one"), NEREID_OK);
  EXPECT_EQ(nereid_llm_unload_adapter(llm_, "one"), NEREID_NOT_FOUND);
  EXPECT_EQ(nereid_llm_unload_adapter(llm_, nullptr), NEREID_INVALID_ARGUMENT);
  EXPECT_THAT(refusal(request), HasSubstr("there is no adapter 'one'"));
}

}  // namespace
}  // namespace nereid::api::testing
