// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/endpoints/chat_prompt.h"

#include <algorithm>
#include <span>

#include "server/protocol/openai/thought_form.h"

namespace nereid::server::openai {
namespace {

// What models that no template taught are asked to write.
constexpr std::string_view kToldFormat = "hermes";

bool uses_tools(const std::vector<Message>& messages) {
  for (const Message& message : messages)
    if (!message.tool_calls.empty() || message.role == "tool") return true;
  return false;
}

void check_context(const ModelCard& card, ChatRequest* request, size_t prompt, FirstError* error) {
  const auto tokens = static_cast<int64_t>(prompt);
  int32_t& most = request->common.params.max_tokens;
  if (request->has_max_tokens && tokens + most > card.context_tokens &&
      !(tokens < card.context_tokens && shifts(card, request->common)))
    error->set(context_exceeded(card.context_tokens, tokens, most, "messages", "messages"));
  else if (tokens >= card.context_tokens)
    error->set(context_exceeded(card.context_tokens, tokens, 0, "messages", "messages"));
  else if (!request->has_max_tokens)
    most = static_cast<int32_t>(card.context_tokens - tokens);
}

bool has_begun_thoughts(const TextModel& model, const ThoughtFormat& format, std::span<const int32_t> prompt) {
  constexpr size_t kTail = 32;  // tokens: more than a mark and line ends are
  const Result<std::string> end = model.detokenize(prompt.last(std::min(prompt.size(), kTail)));
  return end.is_ok() && ends_in_thought(format, *end);
}

// A form that was asked for holds what comes after the thoughts that the prompt has begun. Where their end is a special
// token, which no grammar can write, the prompt ends them.
void put_form_behind_thoughts(const TextModel& model, TextRequest* request) {
  const ThoughtFormat* format = find_thought_format(model.card().thought_format);
  sample::GrammarSpec& form = request->params.grammar;
  if (!format || !binds_whole_answer(form) || !has_begun_thoughts(model, *format, request->prompt)) return;
  if (model.tokenize(format->end, false, true) == model.tokenize(format->end, false, false)) {
    form = form_after_thoughts(form, *format);
    return;
  }
  const std::vector<int32_t> end = model.tokenize(std::string(format->end) + "\n\n", false, true);
  request->prompt.insert(request->prompt.end(), end.begin(), end.end());
}

}  // namespace

ToolUse tool_use(const ModelCard& card) {
  const ToolFormat* own = find_tool_format(card.tool_format);
  return own ? ToolUse{own, false} : ToolUse{find_tool_format(kToldFormat), true};
}

ThoughtOptions thought_options(const TextModel& model, const ChatRequest& request, const TextRequest& prompt) {
  ThoughtOptions options{.format = find_thought_format(model.card().thought_format)};
  if (request.thoughts == ThoughtUse::kInline || binds_whole_answer(prompt.params.grammar)) options.format = nullptr;
  if (!options.format) return options;
  options.is_dropped = request.thoughts == ThoughtUse::kDropped;
  options.is_inside = has_begun_thoughts(model, *options.format, prompt.prompt);
  return options;
}

Markers answer_markers(const TextModel& model, const ToolFormat* format, const ThoughtOptions& thoughts) {
  Markers found;
  const auto add = [&](std::string_view mark) {
    const std::vector<int32_t> ids = model.tokenize(mark, false, true);
    if (ids.size() == 1) found.emplace(ids[0], mark);
  };
  if (format)
    for (const std::string_view mark : format->markers) add(mark);
  if (thoughts.format) {
    add(thoughts.format->begin);
    add(thoughts.format->end);
  }
  return found;
}

std::vector<int32_t> chat_tokens(const TextModel& model, ChatRequest* request, FirstError* error) {
  const ToolUse use = tool_use(model.card());
  const std::string tools = request->tools.is_used() ? request->tools.json() : "";
  std::vector<Message> messages = std::move(request->messages);
  if (use.is_told && (!tools.empty() || uses_tools(messages)))
    messages = with_tools_as_text(std::move(messages), tools);
  const std::string json = template_messages(messages);
  Result<std::vector<int32_t>> tokens = model.chat_prompt({.messages = json,
                                                           .tools = use.is_told ? std::string_view() : tools,
                                                           .variables = request->variables,
                                                           .add_generation_prompt = request->add_generation_prompt});
  if (tokens.is_ok()) return std::move(*tokens);
  error->set(api_error(tokens.status(), "messages"));
  return {};
}

TextRequest chat_request(const Service& service, const FoundModel& found, ChatRequest* request, FirstError* error) {
  const ModelCard& card = found.model->card();
  if (!card.chats) {
    error->set({.http = 404,
                .message = fmt::format("`{}` is not a chat model and thus not supported in the v1/chat/completions "
                                       "endpoint.",
                                       found.name),
                .param = "model"});
    return {};
  }
  CommonRequest& common = request->common;
  TextRequest one{.prompt = chat_tokens(*found.model, request, error),
                  .choices = common.n,
                  .priority = std::min(common.priority, service.max_priority),
                  .timeout_us = common.timeout_us,
                  .user = common.user,
                  .adapter = found.adapter,
                  .shift_keep = common.shift_keep};
  if (error->is_set()) return one;
  check_context(card, request, one.prompt.size(), error);
  // A form the answer was asked to have binds it whole: there is no room for calls then, unless one must be made.
  const ToolSet& tools = request->tools;
  const bool must_call = tools.choice == ToolChoice::kRequired || tools.choice == ToolChoice::kNamed;
  if (must_call || common.params.grammar.is_none()) {
    const ToolUse use = tool_use(card);
    sample::GrammarSpec grammar = tool_grammar(tools, use.format, use.is_told);
    if (!grammar.is_none()) {
      common.params.grammar = std::move(grammar);
      common.grammar_param = tools.is_legacy ? "functions" : "tools";
    }
  }
  one.params = common.params;
  put_form_behind_thoughts(*found.model, &one);
  return one;
}

}  // namespace nereid::server::openai
