// SPDX-License-Identifier: Apache-2.0
// A text model for tests of protocols: it answers what its prompt tells it to, the same every time.
//
// A prompt that holds `say{TEXT}` is answered with TEXT (of the last such; "\n" stands for a line end), any other with
// "Hello, world!". `fail{TEXT}` ends the answer with an error after what there was to say. Tokens are words and signs,
// numbered as they are first met.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/core/text_model.h"

namespace nereid::server {

struct TestTextModelOptions {
  ModelCard card = {.name = "test-model",
                    .created_s = 1700000000,
                    .context_tokens = 240,
                    .vocab = 100000,
                    .generates = true,
                    .chats = true,
                    .embeds = true,
                    .reranks = true,
                    .adapters = {},
                    .thought_format = {},
                    .tool_format = "hermes"};
  std::vector<std::string> special = {"<s>", "</s>", "<tool_call>", "</tool_call>"};
  // How an answer goes out: by default at once, on the thread that asks. Otherwise `run` is given what does it, and the
  // answer asks `pause` before each token; false ends it there, as does cancel().
  std::function<void(std::function<void()>)> run;
  std::function<bool()> pause;
  size_t queue = SIZE_MAX;  // a request more is refused
};

class TestTextModel final : public TextModel {
 public:
  explicit TestTextModel(TestTextModelOptions options = {});

  const ModelCard& card() const override { return options_.card; }
  std::vector<int32_t> tokenize(std::string_view text, bool add_special, bool parse_special) const override;
  Result<std::string> detokenize(std::span<const int32_t> tokens) const override;
  std::string token_text(int32_t token) const override;
  Result<std::vector<int32_t>> chat_prompt(const ChatInput& chat) const override;
  Result<uint64_t> generate(TextRequest request, TextSink sink) override;
  void cancel(uint64_t id) override;
  std::vector<std::string> adapters() const override;  // the card's, and what was loaded
  Status load_adapter(const std::string& name, const std::string& path, double scale) override;
  Status unload_adapter(std::string_view name) override;
  // A vector counts the bytes of a text by their last two bits; a pair scores by whether the second holds the first.
  Result<uint64_t> encode(EncodeRequest request, EncodeSink sink) override;

  // Of the last request, for tests that look at what reached the model.
  TextRequest last() const;
  size_t running() const;

 private:
  int32_t token_of(std::string_view piece) const;
  sample::SampleResult sample_of(int32_t token, const sample::SamplingParams& params) const;
  void answer(uint64_t id, const TextRequest& request, const TextSink& sink);
  bool is_cancelled(uint64_t id) const;

  TestTextModelOptions options_;
  mutable std::mutex mutex_;  // of what follows
  mutable std::map<std::string, int32_t, std::less<>> ids_;
  mutable std::vector<std::string> pieces_;
  uint64_t next_id_ = 1;
  std::map<uint64_t, bool> running_;  // cancelled?
  TextRequest last_;
  std::vector<std::string> adapters_;
};

}  // namespace nereid::server
