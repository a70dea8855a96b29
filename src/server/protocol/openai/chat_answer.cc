// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/chat_answer.h"

#include <fmt/format.h>

#include <utility>

#include "server/protocol/openai/json_text.h"
#include "server/protocol/openai/logprobs.h"

namespace nereid::server::openai {
namespace {

class ChatAnswer final : public AnswerText {
 public:
  ChatAnswer(const TextModel& model, ChatAnswerOptions options)
      : options_(std::move(options)), names_(model, options_.tokens_as_ids), choices_(static_cast<size_t>(options_.n)) {
    head_ = R"({"id":)";
    append_json_string(&head_, options_.head.id);
    head_ +=
        fmt::format(R"(,"object":"{}","created":{},"model":)",
                    options_.stream.is_stream ? "chat.completion.chunk" : "chat.completion", options_.head.created_s);
    append_json_string(&head_, options_.head.model);
    head_ += R"(,"service_tier":"default","system_fingerprint":)";
    append_json_string(&head_, options_.head.fingerprint);
    head_ += R"(,"choices":[)";
    for (Choice& choice : choices_)
      choice.reader = AnswerReader(options_.thoughts, options_.make_parser ? options_.make_parser() : nullptr);
    options_.make_parser = nullptr;  // it may refer to what does not live as long
  }

  void add(size_t, TextOutput&& output, std::string* stream) override {
    Choice& choice = choices_[static_cast<size_t>(output.choice)];
    stream_ = stream;
    choice_ = &choice;
    if (options_.stream.is_stream && !std::exchange(choice.has_begun, true))
      event(R"({"role":"assistant","content":"","refusal":null})");
    if (output.token >= 0) {
      ++tokens_;
      if (options_.logprobs >= 0) {
        if (!choice.logprobs.empty()) choice.logprobs += ',';
        append_chat_logprob(&choice.logprobs, names_, output.sample, options_.logprobs);
      }
    }
    if (choice.reader.is_plain()) {
      said("content", &choice.text, output.text);
    } else {
      events_.clear();
      choice.reader.read(output, options_.markers, &events_);
      for (ToolEvent& one : events_) tool_event(std::move(one));
    }
    if (!output.is_last) return;
    choice.finish = finish_word(output.finish);
    if (!choice.calls.empty() && output.finish == TextFinish::kStop) choice.finish = options_.finish_with_calls;
    if (options_.stream.is_stream) event("{}");
  }

  void end(const Usage& given, std::string* out) override {
    Usage usage = given;
    if (options_.thoughts.format) {
      usage.thought_tokens = 0;
      for (const Choice& choice : choices_) usage.thought_tokens += choice.reader.thought_tokens();
    }
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
    for (size_t i = 0; i < choices_.size(); ++i) {
      if (i > 0) *out += ',';
      append_whole(out, i);
    }
    *out += R"(],"usage":)";
    append_usage(out, usage);
    *out += '}';
  }

 private:
  struct Call {
    std::string id, name, arguments;
  };
  struct Choice {
    bool has_begun = false;
    AnswerReader reader;
    std::string text, thought;  // of an answer that is not streamed
    std::string logprobs;       // not sent yet
    std::vector<Call> calls;
    bool ignores_call = false;  // one more than are allowed
    std::string_view finish;
  };

  // An event of the choice at hand: `delta` goes between what frames it.
  void open_event() {
    *stream_ += "data: ";
    *stream_ += head_;
    *stream_ += R"({"index":)";
    append_int(stream_, choice_ - choices_.data());
    *stream_ += R"(,"delta":)";
  }
  void close_event() {
    if (choice_->logprobs.empty()) {
      *stream_ += R"(,"logprobs":null,"finish_reason":)";
    } else {
      *stream_ += R"(,"logprobs":{"content":[)";
      *stream_ += choice_->logprobs;
      *stream_ += R"(],"refusal":null},"finish_reason":)";
      choice_->logprobs.clear();
    }
    if (choice_->finish.empty())
      *stream_ += "null}]";
    else
      append_json_string(stream_, choice_->finish), *stream_ += "}]";
    if (options_.stream.continuous_usage) {
      *stream_ += R"(,"usage":)";
      append_usage(stream_, {options_.prompt_tokens, 0, tokens_});
    } else if (options_.stream.include_usage) {
      *stream_ += R"(,"usage":null)";
    }
    *stream_ += "}\n\n";
  }
  void event(std::string_view delta) {
    open_event();
    *stream_ += delta;
    close_event();
  }

  // A piece of the choice's text, or of its thoughts.
  void said(std::string_view member, std::string* kept, std::string_view text) {
    if (!options_.stream.is_stream) {
      *kept += text;
      return;
    }
    if (text.empty()) return;
    open_event();
    *stream_ += R"({")";
    *stream_ += member;
    *stream_ += R"(":")";
    append_json_escaped(stream_, text);
    *stream_ += R"("})";
    close_event();
  }

  void tool_event(ToolEvent&& one) {
    switch (one.kind) {
      case ToolEvent::Kind::kContent:
        if (!choice_->ignores_call) said("content", &choice_->text, one.text);
        return;
      case ToolEvent::Kind::kThought:
        said("reasoning_content", &choice_->thought, one.text);
        return;
      case ToolEvent::Kind::kCall: {
        choice_->ignores_call = choice_->calls.size() >= options_.max_calls;
        if (choice_->ignores_call) return;
        Call& call = choice_->calls.emplace_back();
        call.id = random_id(options_.id_prefix, options_.id_letters, options_.random);
        call.name = std::move(one.text);
        if (!options_.stream.is_stream) return;
        open_event();
        if (options_.is_legacy)
          *stream_ += R"({"function_call":)";
        else
          *stream_ += fmt::format(R"({{"tool_calls":[{{"index":{},"id":"{}","type":"function","function":)",
                                  choice_->calls.size() - 1, call.id);
        append_function(stream_, call);
        *stream_ += options_.is_legacy ? "}" : "}]}";
        close_event();
        return;
      }
      case ToolEvent::Kind::kArguments:
        if (choice_->ignores_call) return;
        if (!options_.stream.is_stream) {
          choice_->calls.back().arguments += one.text;
          return;
        }
        open_event();
        if (options_.is_legacy)
          *stream_ += R"({"function_call":{"arguments":")";
        else
          *stream_ +=
              fmt::format(R"({{"tool_calls":[{{"index":{},"function":{{"arguments":")", choice_->calls.size() - 1);
        append_json_escaped(stream_, one.text);
        *stream_ += options_.is_legacy ? R"("}})" : R"("}}]})";
        close_event();
        return;
    }
  }

  static void append_function(std::string* out, const Call& call) {
    *out += R"({"name":)";
    append_json_string(out, call.name);
    *out += R"(,"arguments":)";
    append_json_string(out, call.arguments);
    *out += '}';
  }

  void append_whole(std::string* out, size_t index) const {
    const Choice& choice = choices_[index];
    *out += fmt::format(R"({{"index":{},"message":{{"role":"assistant","content":)", index);
    if (choice.text.empty() && !choice.calls.empty())
      *out += "null";
    else
      append_json_string(out, choice.text);
    if (!choice.thought.empty()) {
      *out += R"(,"reasoning_content":)";
      append_json_string(out, choice.thought);
    }
    *out += R"(,"refusal":null)";
    if (!choice.calls.empty() && options_.is_legacy) {
      *out += R"(,"function_call":)";
      append_function(out, choice.calls[0]);
    } else if (!choice.calls.empty()) {
      *out += R"(,"tool_calls":[)";
      for (const Call& call : choice.calls) {
        if (&call != choice.calls.data()) *out += ',';
        *out += fmt::format(R"({{"id":"{}","type":"function","function":)", call.id);
        append_function(out, call);
        *out += '}';
      }
      *out += ']';
    }
    *out += R"(},"logprobs":)";
    if (options_.logprobs < 0)
      *out += "null";
    else
      *out += fmt::format(R"({{"content":[{}],"refusal":null}})", choice.logprobs);
    *out += R"(,"finish_reason":)";
    append_json_string(out, choice.finish);
    *out += '}';
  }

  ChatAnswerOptions options_;
  TokenNames names_;
  std::string head_;
  std::vector<Choice> choices_;
  int64_t tokens_ = 0;
  ToolEvents events_;
  // While add() runs.
  std::string* stream_ = nullptr;
  Choice* choice_ = nullptr;
};

}  // namespace

std::unique_ptr<AnswerText> make_chat_answer(const TextModel& model, ChatAnswerOptions options) {
  return std::make_unique<ChatAnswer>(model, std::move(options));
}

}  // namespace nereid::server::openai
