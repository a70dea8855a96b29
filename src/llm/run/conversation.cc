// SPDX-License-Identifier: Apache-2.0
#include "llm/run/conversation.h"

#include <algorithm>

#include "base/file.h"

namespace nereid::llm {
namespace {

constexpr size_t kMaxTemplateBytes = size_t{4} << 20;

chat::OrderedJson message(std::string_view role, std::string_view text) {
  return {{"role", role}, {"content", text}};
}

std::string builtin_names() {
  std::string names;
  for (const chat::BuiltinTemplate& t : chat::builtin_templates())
    names.append(names.empty() ? "" : ", ").append(t.name);
  return names;
}

}  // namespace

std::optional<std::string> token_text(const token::Tokenizer& tokenizer, int32_t id) {
  if (id < 0) return std::nullopt;
  return tokenizer.decode({&id, 1}, {.skip_special = false});
}

Result<chat::ChatTemplate> choose_template(const LanguageModel& model, const std::string& choice) {
  if (choice.empty()) {
    if (model.chat_template()) return *model.chat_template();
    return not_found("the model carries no chat template; choose a file with one, or one of these: {}",
                     builtin_names());
  }
  for (const chat::BuiltinTemplate& t : chat::builtin_templates())
    if (t.name == choice) return chat::builtin_template(choice);
  Result<std::string> source = read_file(choice, kMaxTemplateBytes);
  if (!source.is_ok())
    return not_found("the chat template '{}' is neither a file that can be read ({}) nor one of these: {}", choice,
                     source.status().message(), builtin_names());
  return chat::ChatTemplate::parse(std::move(source).value()).with(choice);
}

Result<std::vector<int32_t>> chat_prompt(const token::Tokenizer& tokenizer, const chat::ChatTemplate& chat_template,
                                         const ChatTexts& chat) {
  chat::RenderInput input{.add_generation_prompt = chat.add_generation_prompt,
                          .bos_token = token_text(tokenizer, tokenizer.bos_id()),
                          .eos_token = token_text(tokenizer, tokenizer.eos_id())};
  NEREID_TRY(const chat::OrderedJson messages, chat::parse_ordered_json(chat.messages).with("messages"));
  NEREID_TRY(input.messages, chat::normalize_messages(messages));
  if (!chat.tools.empty()) {
    NEREID_TRY(input.tools, chat::parse_ordered_json(chat.tools).with("tools"));
  }
  if (!chat.variables.empty()) {
    NEREID_TRY(input.variables, chat::parse_ordered_json(chat.variables).with("the template's variables"));
  }
  NEREID_TRY(const std::string text, chat_template.render(input));
  return tokenizer.encode_checked(text, {.add_special = false, .parse_special = true});
}

Conversation::Conversation(const token::Tokenizer& tokenizer, chat::ChatTemplate chat_template)
    : tokenizer_(tokenizer), template_(std::move(chat_template)) {}

void Conversation::set_system(std::string_view text) {
  system_ = text;
}

void Conversation::add(std::string_view role, std::string_view text) {
  turns_.push_back(message(role, text));
}

void Conversation::drop_last() {
  if (!turns_.empty()) turns_.pop_back();
}

bool Conversation::drop_oldest() {
  const auto is_question = [](const chat::OrderedJson& m) { return m["role"] == "user"; };
  if (turns_.empty()) return false;
  const auto next = std::find_if(turns_.begin() + 1, turns_.end(), is_question);
  if (next == turns_.end()) return false;
  turns_.erase(turns_.begin(), next);
  return true;
}

Status Conversation::set_messages(const chat::OrderedJson& messages) {
  const auto has_text = [](const chat::OrderedJson& m, const char* name) {
    return m.is_object() && m.contains(name) && m[name].is_string();
  };
  if (!messages.is_array() || !std::all_of(messages.begin(), messages.end(), [&](const chat::OrderedJson& m) {
        return has_text(m, "role") && has_text(m, "content");
      }))
    return invalid_argument("a conversation is an array of messages with a role and a content each, which this is not");
  system_.clear();
  turns_.clear();
  for (const chat::OrderedJson& m : messages)
    if (turns_.empty() && system_.empty() && m["role"] == "system")
      system_ = m["content"].get<std::string>();
    else
      turns_.push_back(m);
  return Status::ok();
}

void Conversation::clear() {
  turns_.clear();
}

chat::OrderedJson Conversation::messages() const {
  chat::OrderedJson all = chat::OrderedJson::array();
  if (!system_.empty()) all.push_back(message("system", system_));
  for (const chat::OrderedJson& turn : turns_) all.push_back(turn);
  return all;
}

Result<std::string> Conversation::text() const {
  return template_.render({.messages = messages(),
                           .add_generation_prompt = true,
                           .bos_token = token_text(tokenizer_, tokenizer_.bos_id()),
                           .eos_token = token_text(tokenizer_, tokenizer_.eos_id())});
}

Result<std::vector<int32_t>> Conversation::prompt() const {
  NEREID_TRY(const std::string rendered, text());
  return tokenizer_.encode(rendered, {.add_special = false, .parse_special = true});
}

}  // namespace nereid::llm
