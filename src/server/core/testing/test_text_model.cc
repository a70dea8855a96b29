// SPDX-License-Identifier: Apache-2.0
#include "server/core/testing/test_text_model.h"

#include <algorithm>

namespace nereid::server {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Words with the space before them, else one character at a time.
size_t piece_bytes(std::string_view text) {
  size_t n = 1;
  if (is_word(text[0]) || (text[0] == ' ' && text.size() > 1 && is_word(text[1]))) {
    while (n < text.size() && is_word(text[n])) ++n;
    return n;
  }
  while (n < text.size() && (text[n] & 0xc0) == 0x80) ++n;
  return n;
}

// The text between the braces of the last `word{...}`; braces inside are paired.
std::string told(std::string_view prompt, std::string_view word, std::string_view fallback) {
  const size_t begin = prompt.rfind(word);
  if (begin == std::string_view::npos) return std::string(fallback);
  size_t at = begin + word.size();
  std::string text;
  for (int depth = 1; at < prompt.size(); ++at) {
    if (prompt[at] == '{') ++depth;
    if (prompt[at] == '}' && --depth == 0) break;
    text += prompt[at];
  }
  for (size_t n = text.find("\\n"); n != std::string::npos; n = text.find("\\n", n)) text.replace(n, 2, "\n");
  return text;
}

}  // namespace

TestTextModel::TestTextModel(TestTextModelOptions options) : options_(std::move(options)) {
  for (const std::string& special : options_.special) token_of(special);
}

int32_t TestTextModel::token_of(std::string_view piece) const {
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = ids_.try_emplace(std::string(piece), static_cast<int32_t>(pieces_.size()));
  if (is_new) pieces_.emplace_back(piece);
  return at->second;
}

std::vector<int32_t> TestTextModel::tokenize(std::string_view text, bool add_special, bool parse_special) const {
  std::vector<int32_t> tokens;
  if (add_special) tokens.push_back(0);
  while (!text.empty()) {
    size_t bytes = piece_bytes(text);
    for (const std::string& special : options_.special)
      if (parse_special && text.starts_with(special)) bytes = special.size();
    tokens.push_back(token_of(text.substr(0, bytes)));
    text.remove_prefix(bytes);
  }
  return tokens;
}

std::string TestTextModel::token_text(int32_t token) const {
  const std::lock_guard lock(mutex_);
  return token >= 0 && static_cast<size_t>(token) < pieces_.size() ? pieces_[static_cast<size_t>(token)] : "?";
}

Result<std::string> TestTextModel::detokenize(std::span<const int32_t> tokens) const {
  std::string text;
  for (const int32_t token : tokens) {
    if (token < 0 || token >= options_.card.vocab)
      return invalid_argument("the token {} lies outside the vocabulary of {}", token, options_.card.vocab);
    text += token_text(token);
  }
  return text;
}

Result<std::vector<int32_t>> TestTextModel::chat_prompt(const ChatInput& chat) const {
  NEREID_TRY(const Json messages, parse_json(chat.messages));
  std::string text;
  if (!chat.tools.empty()) text += fmt::format("tools: {}\n", chat.tools);
  if (!chat.variables.empty()) text += fmt::format("variables: {}\n", chat.variables);
  for (const Json& message : messages) {
    const auto content = message.at("content").get<std::string>();
    if (content == "unacceptable") return invalid_argument("Conversation roles must alternate");
    text += fmt::format("{}: {}\n", message.at("role").get<std::string>(), content);
    if (message.contains("tool_calls")) text += fmt::format("calls: {}\n", message.at("tool_calls").dump());
  }
  if (chat.add_generation_prompt) text += "assistant: ";
  return tokenize(text, true, true);
}

sample::SampleResult TestTextModel::sample_of(int32_t token, const sample::SamplingParams& params) const {
  sample::SampleResult result{.token = token};
  if (params.logprobs < 0) return result;
  result.logprob = -0.25F * static_cast<float>(1 + token % 3);
  for (int32_t i = 0; i < params.logprobs; ++i)
    result.top.push_back({i == 0 ? token : i, result.logprob - static_cast<float>(i)});
  return result;
}

Result<uint64_t> TestTextModel::generate(TextRequest request, TextSink sink) {
  if (request.prompt.empty()) return invalid_argument("the prompt is empty; a model needs at least one token");
  for (const int32_t token : request.prompt)
    if (token >= options_.card.vocab)
      return invalid_argument("the token {} lies outside the vocabulary of {}", token, options_.card.vocab);
  if (request.params.grammar.text.find("impossible") != std::string::npos)
    return invalid_argument("the {} cannot be compiled: 'impossible' is no type",
                            sample::grammar_kind_name(request.params.grammar.kind));
  uint64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    if (running_.size() >= options_.queue)
      return exhausted("the queue holds {} requests, as many as it may; try again later", running_.size());
    id = next_id_++;
    running_[id] = false;
    last_ = request;
  }
  auto work = [this, id, request = std::move(request), sink = std::move(sink)] {
    answer(id, request, sink);
    const std::lock_guard lock(mutex_);
    running_.erase(id);
  };
  if (options_.run)
    options_.run(std::move(work));
  else
    work();
  return id;
}

bool TestTextModel::is_cancelled(uint64_t id) const {
  const std::lock_guard lock(mutex_);
  const auto at = running_.find(id);
  return at == running_.end() || at->second;
}

void TestTextModel::answer(uint64_t id, const TextRequest& request, const TextSink& sink) {
  const std::string prompt = *detokenize(request.prompt);
  const std::string error = told(prompt, "fail{", "");
  for (int32_t choice = 0; choice < request.choices; ++choice) {
    std::string text = told(prompt, "say{", error.empty() ? "Hello, world!" : "");
    if (choice > 0) text += fmt::format(" ({})", choice);
    TextOutput last{.choice = choice, .is_last = true};
    for (const std::string& stop : request.params.stop) text = text.substr(0, text.find(stop));
    std::vector<int32_t> tokens = tokenize(text, false, true);
    if (std::cmp_greater(tokens.size(), request.params.max_tokens)) {
      tokens.resize(static_cast<size_t>(request.params.max_tokens));
      last.finish = TextFinish::kLength;
    }
    std::vector<sample::SampleResult> of_prompt;
    if (choice == 0 && request.prompt_logprobs)
      for (size_t i = 1; i < request.prompt.size(); ++i)
        of_prompt.push_back(sample_of(request.prompt[i], request.params));
    for (const int32_t token : tokens) {
      if (is_cancelled(id) || (options_.pause && !options_.pause())) {
        last.finish = TextFinish::kCancelled;
        break;
      }
      ++last.answer_tokens;
      const std::string piece = token_text(token);
      const bool is_special =
          std::find(options_.special.begin(), options_.special.end(), piece) != options_.special.end();
      sink({.choice = choice,
            .token = token,
            .text = is_special ? "" : piece,
            .sample = sample_of(token, request.params),
            .prompt = std::exchange(of_prompt, {})});
    }
    last.prompt_tokens = static_cast<int64_t>(request.prompt.size());
    last.prompt = std::move(of_prompt);
    if (error == "timeout")
      last.finish = TextFinish::kTimeout;
    else if (!error.empty())
      last.status = internal("{}", error);
    sink(std::move(last));
  }
}

void TestTextModel::cancel(uint64_t id) {
  const std::lock_guard lock(mutex_);
  if (const auto at = running_.find(id); at != running_.end()) at->second = true;
}

std::vector<std::string> TestTextModel::adapters() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all = options_.card.adapters;
  all.insert(all.end(), adapters_.begin(), adapters_.end());
  return all;
}

Status TestTextModel::load_adapter(const std::string& name, const std::string& path, double /*scale*/) {
  if (path.ends_with("broken")) return invalid_argument("{}: adapter_config.json is damaged", path);
  const std::lock_guard lock(mutex_);
  adapters_.push_back(name);
  return Status::ok();
}

Status TestTextModel::unload_adapter(std::string_view name) {
  const std::lock_guard lock(mutex_);
  return std::erase(adapters_, name) > 0 ? Status::ok() : not_found("there is no adapter '{}' to be unloaded", name);
}

Result<uint64_t> TestTextModel::encode(EncodeRequest request, EncodeSink sink) {
  EncodeAnswer answer;
  for (const EncodeText& text : request.texts) {
    Encoded one{.values = {}, .tokens = static_cast<int64_t>(text.tokens.size())};
    std::string bytes = text.text;
    if (!text.tokens.empty()) {
      NEREID_TRY(bytes, detokenize(text.tokens));
    } else {
      one.tokens = static_cast<int64_t>(tokenize(bytes + (text.second ? " " + *text.second : ""), false, false).size());
    }
    if (one.tokens > card().context_tokens && !request.truncates)
      return invalid_argument("the text has {} tokens, but the model reads at most {}", one.tokens,
                              card().context_tokens);
    if (text.second) {
      one.values = {text.second->find(bytes) == std::string::npos ? 0.125F : 0.875F};
    } else {
      one.values.assign(4, 0);
      for (const char c : bytes) one.values[static_cast<unsigned char>(c) % 4] += 0.5F;
    }
    answer.results.push_back(std::move(one));
  }
  sink(std::move(answer));
  return uint64_t{0};
}

TextRequest TestTextModel::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

size_t TestTextModel::running() const {
  const std::lock_guard lock(mutex_);
  return running_.size();
}

}  // namespace nereid::server
