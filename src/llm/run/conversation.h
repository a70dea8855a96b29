// SPDX-License-Identifier: Apache-2.0
// A conversation as a prompt: messages, written by a chat template, as the token ids that the model answers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "llm/chat/builtin_templates.h"
#include "llm/chat/chat_template.h"
#include "llm/chat/input.h"
#include "llm/run/language_model.h"

namespace nereid::llm {

// The text of a special token as templates name it; nothing if the model has no such token.
std::optional<std::string> token_text(const token::Tokenizer& tokenizer, int32_t id);

// The model's own template; with `choice` the built-in one of that name, or the one in that file.
// kNotFound: the model has none and nothing was chosen; the sentence names what can be.
Result<chat::ChatTemplate> choose_template(const LanguageModel& model, const std::string& choice = "");

// A whole conversation as JSON texts: views that live during the call.
struct ChatTexts {
  std::string_view messages;   // an array as OpenAI's, contents as strings, arguments of calls as objects
  std::string_view tools;      // an array as OpenAI's; "": none
  std::string_view variables;  // an object of more names for the template; "": none
  bool add_generation_prompt = true;
};
// Its prompt. Any thread. kInvalidArgument: no JSON of that kind, or what the template says.
Result<std::vector<int32_t>> chat_prompt(const token::Tokenizer& tokenizer, const chat::ChatTemplate& chat_template,
                                         const ChatTexts& chat);

// Not thread-safe. The tokenizer must outlive it.
class Conversation {
 public:
  Conversation(const token::Tokenizer& tokenizer, chat::ChatTemplate chat_template);

  // Replaces the system message; an empty text removes it.
  void set_system(std::string_view text);
  void add(std::string_view role, std::string_view text);
  // Takes the last message back, if there is one.
  void drop_last();
  // Drops the oldest question with its answer, so that a long conversation fits its context again. False when only one
  // exchange is left.
  bool drop_oldest();
  // As messages() gave them. kInvalidArgument: no such array; nothing changes then.
  Status set_messages(const chat::OrderedJson& messages);
  // Everything but the system message.
  void clear();
  bool empty() const { return turns_.empty(); }

  chat::OrderedJson messages() const;
  // The rendered text up to where the model's answer begins, and its ids. The template writes BOS where it belongs:
  // the tokenizer adds nothing. Errors: what the template says.
  Result<std::string> text() const;
  Result<std::vector<int32_t>> prompt() const;

 private:
  const token::Tokenizer& tokenizer_;
  chat::ChatTemplate template_;
  std::string system_;
  std::vector<chat::OrderedJson> turns_;  // {"role": ..., "content": ...}, oldest first
};

}  // namespace nereid::llm
