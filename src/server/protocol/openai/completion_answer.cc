// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/completion_answer.h"

#include <fmt/format.h>

#include <numeric>

#include "server/protocol/openai/json_text.h"
#include "server/protocol/openai/logprobs.h"

namespace nereid::server::openai {
namespace {

class CompletionAnswer final : public AnswerText {
 public:
  CompletionAnswer(const TextModel& model, CompletionAnswerOptions options)
      : options_(std::move(options)),
        names_(model, options_.tokens_as_ids),
        choices_(options_.prompts * static_cast<size_t>(options_.n)),
        prompt_samples_(options_.prompts) {
    head_ = R"({"id":)";
    append_json_string(&head_, options_.head.id);
    head_ += fmt::format(R"(,"object":"text_completion","created":{},"model":)", options_.head.created_s);
    append_json_string(&head_, options_.head.model);
    head_ += R"(,"system_fingerprint":)";
    append_json_string(&head_, options_.head.fingerprint);
    head_ += R"(,"choices":[)";
  }

  void add(size_t prompt, TextOutput&& output, std::string* stream) override {
    const size_t at = prompt * static_cast<size_t>(options_.n) + static_cast<size_t>(output.choice);
    Choice& choice = choices_[at];
    if (!output.prompt.empty()) prompt_samples_[prompt] = std::move(output.prompt);
    if (!choice.has_begun) begin(prompt, &choice);
    choice.text += output.text;
    if (output.token >= 0) {
      ++choice.tokens;
      if (options_.logprobs >= 0) choice.logprobs.add(names_, output.sample, options_.logprobs);
    }
    if (output.is_last) choice.finish = finish_word(output.finish);
    if (!options_.stream.is_stream) return;
    if (choice.text.empty() && choice.logprobs.is_empty() && !output.is_last) return;
    *stream += "data: ";
    *stream += head_;
    append_choice(stream, at, &choice);
    *stream += ']';
    if (options_.stream.continuous_usage) {
      *stream += R"(,"usage":)";
      append_usage(stream, {options_.prompt_tokens, 0, tokens_so_far()});
    } else if (options_.stream.include_usage) {
      *stream += R"(,"usage":null)";
    }
    *stream += "}\n\n";
    choice.text.clear();
  }

  void end(const Usage& usage, std::string* out) override {
    if (options_.stream.is_stream) {
      if (options_.stream.include_usage) {
        *out += "data: ";
        *out += head_;
        *out += R"(],"usage":)";
        append_usage(out, usage);
        *out += "}\n\n";
      }
      *out += kStreamEnd;
      return;
    }
    *out += head_;
    for (size_t at = 0; at < choices_.size(); ++at) {
      if (at > 0) *out += ',';
      append_choice(out, at, &choices_[at]);
    }
    *out += R"(],"usage":)";
    append_usage(out, usage);
    *out += '}';
  }

 private:
  struct Choice {
    bool has_begun = false;
    std::string text;  // not sent yet
    CompletionLogprobs logprobs;
    int64_t tokens = 0;
    std::string_view finish;
  };

  void begin(size_t prompt, Choice* choice) {
    choice->has_begun = true;
    if (options_.echo.empty()) return;
    const CompletionAnswerOptions::Echo& echo = options_.echo[prompt];
    choice->text = echo.text;
    if (options_.logprobs < 0) return;
    choice->logprobs.add_first(names_, echo.first_token);
    for (const sample::SampleResult& one : prompt_samples_[prompt])
      choice->logprobs.add(names_, one, options_.logprobs);
  }

  int64_t tokens_so_far() const {
    return std::accumulate(choices_.begin(), choices_.end(), int64_t{0},
                           [](int64_t sum, const Choice& c) { return sum + c.tokens; });
  }

  void append_choice(std::string* out, size_t index, Choice* choice) const {
    *out += R"({"text":")";
    append_json_escaped(out, choice->text);
    *out += R"(","index":)";
    append_int(out, static_cast<int64_t>(index));
    *out += R"(,"logprobs":)";
    if (options_.logprobs >= 0 && !(options_.stream.is_stream && choice->logprobs.is_empty()))
      choice->logprobs.take(out);
    else
      *out += "null";
    *out += R"(,"finish_reason":)";
    if (choice->finish.empty())
      *out += "null";
    else
      append_json_string(out, choice->finish);
    *out += '}';
  }

  CompletionAnswerOptions options_;
  TokenNames names_;
  std::string head_;
  std::vector<Choice> choices_;
  std::vector<std::vector<sample::SampleResult>> prompt_samples_;
};

}  // namespace

std::unique_ptr<AnswerText> make_completion_answer(const TextModel& model, CompletionAnswerOptions options) {
  return std::make_unique<CompletionAnswer>(model, std::move(options));
}

}  // namespace nereid::server::openai
