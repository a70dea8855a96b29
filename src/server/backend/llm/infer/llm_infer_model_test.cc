// SPDX-License-Identifier: Apache-2.0
// Tensors in and out of a text model that says what its prompt tells it to, and of a tiny model whose answers
// transformers gave.
#include "server/backend/llm/infer/llm_infer_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <future>
#include <thread>

#include "base/file.h"
#include "base/json.h"
#include "base/test_dir.h"
#include "server/backend/llm/infer/known_tensors.h"
#include "server/backend/llm/llm_model.h"
#include "server/core/testing/test_text_model.h"

namespace nereid::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string bytes_of(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) {
    const auto length = static_cast<uint32_t>(text.size());
    out.append(reinterpret_cast<const char*>(&length), sizeof length);
    out += text;
  }
  return out;
}

InferTensor texts(const std::string& name, const std::vector<std::string>& values, std::vector<int64_t> shape = {}) {
  if (shape.empty()) shape = {static_cast<int64_t>(values.size())};
  return tensor_of(name, InferType::kBytes, std::move(shape), bytes_of(values));
}

template <typename T>
InferTensor numbers(const std::string& name, InferType type, std::vector<T> values, std::vector<int64_t> shape = {}) {
  if (shape.empty()) shape = {static_cast<int64_t>(values.size())};
  return tensor_of(name, type, std::move(shape), std::move(values));
}

InferTensor flag(const std::string& name, bool value) {
  return numbers<uint8_t>(name, InferType::kBool, {static_cast<uint8_t>(value)});
}

std::vector<std::string> texts_in(const InferTensor& tensor) {
  std::vector<std::string> out;
  for (size_t at = 0; at < tensor.bytes.size();) {
    uint32_t length = 0;
    std::memcpy(&length, tensor.bytes.data() + at, sizeof length);
    out.emplace_back(reinterpret_cast<const char*>(tensor.bytes.data()) + at + 4, length);
    at += 4 + length;
  }
  return out;
}

template <typename T>
std::vector<T> numbers_in(const InferTensor& tensor) {
  std::vector<T> out(tensor.bytes.size() / sizeof(T));
  std::memcpy(out.data(), tensor.bytes.data(), tensor.bytes.size());
  return out;
}

struct Answers {
  std::vector<InferResponse> responses;
  const InferTensor* output(std::string_view name, size_t response = 0) const {
    for (const InferTensor& one : responses.at(response).outputs)
      if (one.name == name) return &one;
    return nullptr;
  }
  std::vector<std::string> text(size_t response = 0) const {
    const InferTensor* found = output("text_output", response);
    return found == nullptr ? std::vector<std::string>{"(none)"} : texts_in(*found);
  }
};

class LlmInferTest : public ::testing::Test {
 protected:
  void serve(AskStyle style, AskForm form = AskForm::kText, int32_t max_batch = 0, bool decoupled = true) {
    LlmInferParts parts{.config = {}, .json = "{}", .version = 1, .model = text_, .style = style};
    const ConfigCompletion found = known_tensors(style, form);
    parts.config.name = "m";
    parts.config.max_batch_size = max_batch;
    parts.config.inputs = found.inputs;
    parts.config.outputs = found.outputs;
    parts.config.is_decoupled = decoupled;
    model_ = serve_llm(std::move(parts)).value();
  }

  Result<Answers> ask(std::vector<InferTensor> inputs, InferParameters parameters = {},
                      std::vector<std::string> outputs = {}) {
    auto answers = std::make_shared<Answers>();
    auto done = std::make_shared<std::promise<void>>();
    InferRequest request;
    request.id = "r";
    request.inputs = std::move(inputs);
    request.parameters = std::move(parameters);
    request.outputs = std::move(outputs);
    NEREID_RETURN_IF_ERROR(model_->infer(std::move(request), [answers, done](InferResponse&& response) {
      const bool is_final = response.is_final;
      answers->responses.push_back(std::move(response));
      if (is_final) done->set_value();
    }));
    done->get_future().wait();
    NEREID_RETURN_IF_ERROR(answers->responses.back().status);
    return *answers;
  }
  const sample::SamplingParams& asked() { return last_ = text_->last().params; }

  std::shared_ptr<TestTextModel> text_ = std::make_shared<TestTextModel>();
  std::shared_ptr<InferModel> model_;
  sample::SamplingParams last_;
};

TEST_F(LlmInferTest, a_text_is_answered_with_a_text) {
  serve(AskStyle::kPlain);
  const Answers a = ask({texts("text_input", {"say{a b c}"})}).value();
  ASSERT_EQ(a.responses.size(), 1U);
  EXPECT_THAT(a.text(), ElementsAre("a b c"));
  EXPECT_EQ(a.output("cum_log_probs"), nullptr) << "nobody asked for it";
  EXPECT_EQ(asked().temperature, 0) << "greedy";
  EXPECT_EQ(asked().max_tokens, kPlainTokens);
  EXPECT_EQ(model_->statistics().success.count, 1U);
}

TEST_F(LlmInferTest, a_stream_has_a_response_a_token_and_the_last_says_so) {
  serve(AskStyle::kPlain);
  const Answers a = ask({texts("text_input", {"say{a b}"}), flag("stream", true)}).value();
  std::string all;
  for (size_t i = 0; i < a.responses.size(); ++i) {
    all += a.text(i).at(0);
    EXPECT_EQ(a.responses[i].is_final, i + 1 == a.responses.size());
  }
  EXPECT_EQ(all, "a b");
  EXPECT_GE(a.responses.size(), 3U);
}

TEST_F(LlmInferTest, tensorrt_llm_puts_the_prompt_before_the_answer_unless_told) {
  serve(AskStyle::kTensorRtLlm);
  EXPECT_THAT(ask({texts("text_input", {"say{x}"})}).value().text(), ElementsAre("say{x}x"));
  EXPECT_THAT(ask({texts("text_input", {"say{x}"}), flag("exclude_input_in_output", true)}).value().text(),
              ElementsAre("x"));
  EXPECT_THAT(ask({texts("text_input", {"x"}), flag("stream", true), flag("exclude_input_in_output", false)})
                  .status()
                  .message(),
              HasSubstr("When streaming"));
}

TEST_F(LlmInferTest, vllms_sampling_parameters_are_read) {
  serve(AskStyle::kVllm);
  ASSERT_TRUE(ask({texts("text_input", {"hi"}), texts("sampling_parameters", {R"({"temperature": 0.5, "top_k": -1,
      "stop": ["x"], "max_tokens": 9, "seed": 7, "logit_bias": {"3": 1.5}, "min_p": 0.1})"})})
                  .is_ok());
  EXPECT_EQ(asked().temperature, 0.5F);
  EXPECT_EQ(asked().top_k, 0);
  EXPECT_THAT(asked().stop, ElementsAre("x"));
  EXPECT_EQ(asked().max_tokens, 9);
  EXPECT_EQ(asked().seed, 7U);
  EXPECT_EQ(asked().logit_bias.at(3), 1.5F);
  ASSERT_TRUE(ask({texts("text_input", {"hi"})}).is_ok());
  EXPECT_EQ(asked().temperature, 1.0F);
  EXPECT_EQ(asked().max_tokens, kVllmTokens);
  EXPECT_THAT(
      ask({texts("text_input", {"hi"}), texts("sampling_parameters", {R"({"temprature": 1})"})}).status().message(),
      HasSubstr("'temprature'"));
  EXPECT_FALSE(ask({texts("text_input", {"hi"}), texts("sampling_parameters", {"{"})}).is_ok());
}

TEST_F(LlmInferTest, parameters_of_the_request_mean_the_same_and_others_are_left_alone) {
  serve(AskStyle::kVllm);
  ASSERT_TRUE(
      ask({texts("text_input", {"hi"})}, {{"temperature", 0.25}, {"max_tokens", int64_t{3}}, {"x-own", true}}).is_ok());
  EXPECT_EQ(asked().temperature, 0.25F);
  EXPECT_EQ(asked().max_tokens, 3);
  EXPECT_THAT(ask({texts("text_input", {"hi"})}, {{"temperature", -1.0}}).status().message(), HasSubstr("temperature"));
}

TEST_F(LlmInferTest, words_are_texts_and_tokens_are_sequences) {
  serve(AskStyle::kPlain);
  ASSERT_TRUE(ask({texts("text_input", {"hi"}), texts("stop_words", {"", "end"}), texts("bad_words", {"no"})}).is_ok());
  EXPECT_THAT(asked().stop, ElementsAre("end"));
  EXPECT_THAT(asked().bad_words, ElementsAre("no"));
  serve(AskStyle::kTensorRtLlm, AskForm::kTokens);
  const std::vector<int32_t> prompt = text_->tokenize("say{one two}", false, false);
  ASSERT_TRUE(ask({numbers("input_ids", InferType::kInt32, prompt),
                   numbers<int32_t>("bad_words_list", InferType::kInt32, {4, 5, 6, 2, 3, -1}, {2, 3}),
                   numbers<int32_t>("stop_words_list", InferType::kInt32, {9, 0, 1, -1}, {2, 2})})
                  .is_ok());
  EXPECT_THAT(asked().bad_token_ids, ElementsAre(ElementsAre(4, 5), ElementsAre(6)));
  EXPECT_THAT(asked().stop_token_ids, ElementsAre(9));
  EXPECT_FALSE(ask({numbers("input_ids", InferType::kInt32, prompt),
                    numbers<int32_t>("bad_words_list", InferType::kInt32, {4, 5, 9, -1}, {2, 2})})
                   .is_ok())
      << "a word that ends behind the last token";
}

TEST_F(LlmInferTest, tokens_are_answered_with_tokens) {
  serve(AskStyle::kTensorRtLlm, AskForm::kTokens, 8);
  std::vector<int32_t> prompt = text_->tokenize("say{one two}", false, false);
  const auto length = static_cast<int32_t>(prompt.size());
  std::vector<int32_t> expected = prompt;
  for (const int32_t token : text_->tokenize("one two", false, false)) expected.push_back(token);
  prompt.push_back(0);  // padding
  const auto inputs = [&] {
    return std::vector<InferTensor>{numbers("input_ids", InferType::kInt32, prompt, {1, length + 1}),
                                    numbers<int32_t>("input_lengths", InferType::kInt32, {length}, {1, 1}),
                                    numbers<int32_t>("request_output_len", InferType::kInt32, {20}, {1, 1})};
  };
  const Answers a = ask(inputs()).value();
  EXPECT_THAT(numbers_in<int32_t>(*a.output("output_ids")), ::testing::ElementsAreArray(expected));
  EXPECT_THAT(a.output("output_ids")->shape, ElementsAre(1, 1, static_cast<int64_t>(expected.size())));
  EXPECT_THAT(numbers_in<int32_t>(*a.output("sequence_length")), ElementsAre(static_cast<int32_t>(expected.size())));
  EXPECT_EQ(asked().max_tokens, 20);
  // What an ensemble asks for by name is there, whatever the request wants.
  const Answers b = ask(inputs(), {}, {"output_ids", "cum_log_probs", "output_log_probs"}).value();
  EXPECT_EQ(b.responses[0].outputs.size(), 3U);
}

TEST_F(LlmInferTest, each_prompt_of_a_batch_has_its_own_answer_and_values) {
  serve(AskStyle::kPlain, AskForm::kText, 8);
  const Answers a = ask({texts("text_input", {"say{first}", "say{second}"}, {2, 1}),
                         numbers<int32_t>("max_tokens", InferType::kInt32, {5, 6}, {2, 1})})
                        .value();
  EXPECT_THAT(a.text(), ElementsAre("first", "second"));
  EXPECT_THAT(numbers_in<int32_t>(*a.output("batch_index")), ElementsAre(0, 1));
  EXPECT_EQ(asked().max_tokens, 6);
}

TEST_F(LlmInferTest, log_probabilities_come_where_they_are_asked_for) {
  serve(AskStyle::kPlain);
  const Answers a =
      ask({texts("text_input", {"say{a}"}), flag("return_log_probs", true),
           numbers<int32_t>("num_return_sequences", InferType::kInt32, {2}), flag("return_finish_reason", true)})
          .value();
  EXPECT_EQ(a.output("output_log_probs")->shape[0], 2);
  EXPECT_EQ(numbers_in<float>(*a.output("cum_log_probs")).size(), 2U);
  EXPECT_LT(numbers_in<float>(*a.output("cum_log_probs"))[0], 0);
  EXPECT_THAT(texts_in(*a.output("finish_reason")), ElementsAre("stop", "stop"));
}

TEST_F(LlmInferTest, what_cannot_be_done_is_told) {
  serve(AskStyle::kVllm);
  EXPECT_EQ(ask({texts("text_input", {"hi"}), texts("image", {"abc"})}).status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(ask({texts("text_input", {"fail{broken}"})}).status().message(), HasSubstr("broken"));
  serve(AskStyle::kPlain, AskForm::kText, 0, false);
  EXPECT_THAT(ask({texts("text_input", {"hi"}), flag("stream", true)}).status().message(), HasSubstr("decoupled"));
  EXPECT_TRUE(ask({texts("text_input", {"hi"}), flag("stream", false)}).is_ok());
  ModelConfig config;
  config.name = "m";
  config.inputs.push_back({.name = "PIXELS", .type = InferType::kFp32, .dims = {3}, .reshape = {}, .label_file = {}});
  EXPECT_THAT(serve_llm({.config = config, .json = "", .model = text_}).status().message(), HasSubstr("'PIXELS'"));
}

// Answers that go on until they are told to end.
class EndlessTest : public LlmInferTest {
 protected:
  EndlessTest() {
    text_ = std::make_shared<TestTextModel>(
        TestTextModelOptions{.run = [this](std::function<void()> work) { threads_.emplace_back(std::move(work)); },
                             .pause =
                                 [] {
                                   std::this_thread::sleep_for(std::chrono::milliseconds(2));
                                   return true;
                                 }});
    serve(AskStyle::kPlain);
  }
  ~EndlessTest() override {
    for (std::thread& one : threads_) one.join();
  }
  // The status it ends with; `request` has its id and who may have gone.
  std::future<Status> start(InferRequest request) {
    std::string words = "say{";
    for (int i = 0; i < 20000; ++i) words += "x ";
    request.inputs = {texts("text_input", {words + "}"}), numbers<int32_t>("max_tokens", InferType::kInt32, {100000})};
    auto ended = std::make_shared<std::promise<Status>>();
    const Status status = model_->infer(std::move(request), [ended](InferResponse&& response) {
      if (response.is_final) ended->set_value(response.status);
    });
    EXPECT_TRUE(status.is_ok()) << status.message();
    return ended->get_future();
  }
  std::vector<std::thread> threads_;
};

TEST_F(EndlessTest, a_client_that_goes_ends_its_request) {
  auto gone = std::make_shared<std::atomic<bool>>(false);
  InferRequest request;
  request.cancelled = gone;
  std::future<Status> ended = start(std::move(request));
  EXPECT_EQ(ended.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  *gone = true;
  ASSERT_EQ(ended.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  EXPECT_EQ(ended.get().code(), StatusCode::kCancelled);
  model_->drain();
  const InferStatistics s = model_->statistics();
  EXPECT_EQ(s.failures[static_cast<size_t>(InferFailure::kCancelled)], 1U);
}

TEST_F(EndlessTest, a_request_to_stop_ends_the_one_of_its_id) {
  InferRequest request;
  request.id = "mine";
  std::future<Status> ended = start(std::move(request));
  serve(AskStyle::kTensorRtLlm, AskForm::kTokens);  // another model does not hear it
  InferRequest stop;
  stop.id = "mine";
  stop.inputs = {flag("stop", true), numbers<int32_t>("input_ids", InferType::kInt32, {1})};
  ASSERT_TRUE(model_->infer(std::move(stop), [](InferResponse&&) {}).is_ok());
  EXPECT_EQ(ended.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  text_->cancel(1);
  EXPECT_EQ(ended.get().code(), StatusCode::kCancelled);
  InferRequest again;
  again.id = "mine";
  again.inputs = {
      numbers("input_ids", InferType::kInt32, text_->tokenize("say{a a a a a a a a a a a a}", false, false))};
  std::promise<bool> over;
  ASSERT_TRUE(model_
                  ->infer(std::move(again),
                          [&](InferResponse&& r) {
                            if (r.is_final) over.set_value(!r.status.is_ok());
                          })
                  .is_ok());
  InferRequest end;
  end.id = "mine";
  end.inputs = {flag("stop", true), numbers<int32_t>("input_ids", InferType::kInt32, {1})};
  ASSERT_TRUE(model_->infer(std::move(end), [](InferResponse&&) {}).is_ok());
  EXPECT_TRUE(over.get_future().get()) << "cancelled";
}

TEST_F(EndlessTest, a_model_that_is_being_unloaded_takes_no_more) {
  std::shared_ptr<TextModel> text = model_->text();
  ASSERT_NE(text, nullptr);
  model_->drain();
  EXPECT_FALSE(model_->is_ready());
  InferRequest request;
  request.inputs = {texts("text_input", {"hi"})};
  EXPECT_EQ(model_->infer(std::move(request), [](InferResponse&&) {}).code(), StatusCode::kUnavailable);
  EXPECT_EQ(text->generate({.prompt = {1}}, [](TextOutput&&) {}).status().code(), StatusCode::kUnavailable);
}

TEST(LlmInfer, a_tiny_model_answers_as_transformers_does) {
  const std::string path = std::string(NEREID_SOURCE_DIR) + "/tests/data/models/tiny-qwen3";
  const Json expected = parse_json(read_file(path + ".expected.json", 1 << 20).value()).value();
  TestDir cache;
  ::setenv("NEREID_CACHE_DIR", cache.path().c_str(), 1);
  std::shared_ptr<LlmModel> model = LlmModel::open(path + ".gguf", {.open = {.exact = true}}).value();
  const ConfigCompletion found = known_tensors(AskStyle::kPlain, AskForm::kTokens);
  ModelConfig config;
  config.name = "tiny";
  config.inputs = found.inputs;
  config.outputs = found.outputs;
  config.is_decoupled = true;
  auto served = serve_llm({.config = config, .json = "{}", .model = model}).value();
  const auto prompt = expected["prompt_tokens"].get<std::vector<int32_t>>();
  const auto greedy = expected["greedy_tokens"].get<std::vector<int32_t>>();
  for (const bool streams : {false, true}) {
    InferRequest request;
    request.inputs = {numbers("input_ids", InferType::kInt32, prompt), flag("streaming", streams),
                      numbers<int32_t>("end_id", InferType::kInt32, {-1}),
                      numbers<int32_t>("request_output_len", InferType::kInt32, {static_cast<int32_t>(greedy.size())})};
    std::promise<void> done;
    std::vector<int32_t> tokens;
    ASSERT_TRUE(served
                    ->infer(std::move(request),
                            [&](InferResponse&& response) {
                              EXPECT_TRUE(response.status.is_ok()) << response.status.message();
                              for (const InferTensor& one : response.outputs)
                                if (one.name == "output_ids")
                                  for (const int32_t token : numbers_in<int32_t>(one)) tokens.push_back(token);
                              if (response.is_final) done.set_value();
                            })
                    .is_ok());
    done.get_future().wait();
    EXPECT_EQ(tokens, greedy) << (streams ? "streamed" : "whole");
  }
  served.reset();
  // The last answer's function may hold the model for a moment yet, on the model's own thread, where it must not end
  // (llm_opener.cc closes models elsewhere).
  while (model.use_count() > 1) std::this_thread::yield();
}

}  // namespace
}  // namespace nereid::server
