// SPDX-License-Identifier: Apache-2.0
// A language model as protocols see it: what OpenAI's endpoints and the generate extension need, and nothing of how it
// is done. server/backend/llm implements it; tests have one of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "llm/sample/params.h"
#include "llm/sample/sampler.h"

namespace nereid::server {

struct ModelCard {
  std::string name;            // as requests name it
  int64_t created_s = 0;       // Unix time
  int64_t context_tokens = 0;  // prompt and answer
  int64_t vocab = 0;
  bool generates = false;  // completions; chats too where it has a template
  bool chats = false;
  bool shifts = false;  // answers go on where the context is full, unless a request says otherwise
  bool embeds = false;
  bool reranks = false;
  std::vector<std::string> adapters;  // also models, by these names
  std::string thought_format;         // the marks of what it thinks before it answers: "think", ...; "": none
  std::string tool_format;            // how its template writes calls of tools: "hermes", "llama3", ...; "": none
};

enum class TextFinish : uint8_t { kStop, kLength, kCancelled, kTimeout };

struct TextRequest {
  std::vector<int32_t> prompt;
  sample::SamplingParams params;
  int32_t choices = 1;
  bool prompt_logprobs = false;
  int32_t priority = 0;
  int64_t timeout_us = 0;  // 0: none
  std::string user;
  std::string adapter;
  // Where an answer fills the context: tokens of the beginning that stay while the older half of the others goes; -1:
  // as the model's options say; kNoShift: it ends.
  int32_t shift_keep = -1;
  static constexpr int32_t kNoShift = -2;
};

// As llm::Output; the two differ in nothing but what they may know.
struct TextOutput {
  int32_t choice = 0;
  int32_t token = -1;
  std::string text;
  sample::SampleResult sample;
  bool is_last = false;
  TextFinish finish = TextFinish::kStop;
  Status status;
  int64_t prompt_tokens = 0, reused_tokens = 0, answer_tokens = 0;
  std::vector<sample::SampleResult> prompt;
};

// Called on a thread of the model's; must return soon.
using TextSink = std::function<void(TextOutput&&)>;

// What is to become a vector, or two texts that are to be judged together.
struct EncodeText {
  std::string text;
  std::optional<std::string> second;
  std::vector<int32_t> tokens;  // instead of the text, as they are, if there are any
};
struct EncodeRequest {
  std::vector<EncodeText> texts;
  bool truncates = false;  // texts that are too long lose their end; else they are an error
};
struct Encoded {
  std::vector<float> values;  // a vector, or one score
  int64_t tokens = 0;
};
struct EncodeAnswer {
  Status status;
  std::vector<Encoded> results;  // one a text, in order; none after an error
};
// Called once, on a thread of the model's.
using EncodeSink = std::function<void(EncodeAnswer&&)>;

// What a chat is made of, as JSON texts (views that live during the call); the order of keys is what templates print.
struct ChatInput {
  std::string_view messages;   // an array as OpenAI's, contents as strings, arguments of calls as objects
  std::string_view tools;      // an array as OpenAI's; "": none
  std::string_view variables;  // an object of more names for the template (enable_thinking, ...); "": none
  bool add_generation_prompt = true;
};

// Thread-safe.
class TextModel {
 public:
  virtual ~TextModel() = default;
  virtual const ModelCard& card() const = 0;

  virtual std::vector<int32_t> tokenize(std::string_view text, bool add_special, bool parse_special) const = 0;
  // kInvalidArgument for a token outside the vocabulary.
  virtual Result<std::string> detokenize(std::span<const int32_t> tokens) const = 0;
  // The bytes a token stands for, as log-probabilities print them; special tokens by their name.
  virtual std::string token_text(int32_t token) const = 0;
  // The prompt of a chat, through the model's template, ready to be answered. kInvalidArgument: what the template says;
  // kUnsupported: there is no template.
  virtual Result<std::vector<int32_t>> chat_prompt(const ChatInput& chat) const = 0;

  // Errors as llm::Executor::enqueue; nothing is called back then. The id is for cancel().
  virtual Result<uint64_t> generate(TextRequest request, TextSink sink) = 0;
  virtual void cancel(uint64_t id) = 0;

  // LoRA adapters, which requests name in the model's place. Loaded by `path`, a folder as PEFT saves them; errors as
  // llm::Executor::load_adapter and unload_adapter; kUnsupported: the model takes none.
  virtual std::vector<std::string> adapters() const { return card().adapters; }
  virtual Status load_adapter(const std::string& name, const std::string& path, double scale);
  virtual Status unload_adapter(std::string_view name);

  // Vectors where the card embeds, scores of pairs where it reranks. kUnsupported where it does not; kExhausted: too
  // much is waiting. Nothing is called back then. The id is for cancel().
  virtual Result<uint64_t> encode(EncodeRequest request, EncodeSink sink);
};

inline Result<uint64_t> TextModel::encode(EncodeRequest, EncodeSink) {
  return unsupported("the model {} generates text; it gives no vectors and ranks nothing", card().name);
}
inline Status TextModel::load_adapter(const std::string& name, const std::string&, double) {
  return unsupported("the model {} takes no adapters; '{}' was to be loaded", card().name, name);
}
inline Status TextModel::unload_adapter(std::string_view name) {
  return not_found("there is no adapter '{}' to be unloaded", name);
}

}  // namespace nereid::server
