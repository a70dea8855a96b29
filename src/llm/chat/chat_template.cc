// SPDX-License-Identifier: Apache-2.0
// Puts the parser and the interpreter together and gives their errors a place.
#include "llm/chat/chat_template.h"

#include <algorithm>

#include "llm/chat/heap.h"
#include "llm/chat/interpreter.h"
#include "llm/chat/json_text.h"
#include "llm/chat/parser.h"

namespace nereid::chat {
namespace {

size_t text_bytes(const OrderedJson& json, int depth = 0) {
  if (json.is_string()) return json.get_ref<const std::string&>().size();
  size_t total = sizeof(OrderedJson);
  if (json.is_structured() && depth < 200) {
    for (const OrderedJson& item : json) total += text_bytes(item, depth + 1);
  }
  return total;
}

Status define_inputs(Interpreter& in, Heap& heap, const RenderInput& input) {
  auto define = [&](std::string_view name, const OrderedJson& json) -> Status {
    auto value = from_json(heap, json);
    if (!value) return value.status().with(name);
    in.define(name, *value);
    return Status::ok();
  };
  // Extra variables come first: they may replace any of the names below.
  if (input.variables.is_object()) {
    for (const auto& [name, json] : input.variables.items()) NEREID_RETURN_IF_ERROR(define(name, json));
  }
  NEREID_RETURN_IF_ERROR(define("messages", input.messages));
  NEREID_RETURN_IF_ERROR(define("tools", input.tools));
  in.define("add_generation_prompt", Value::boolean(input.add_generation_prompt));
  in.define("documents", Value::none());
  if (input.bos_token) in.define("bos_token", Value::text(*input.bos_token));
  if (input.eos_token) in.define("eos_token", Value::text(*input.eos_token));
  return Status::ok();
}

}  // namespace

Result<ChatTemplate> ChatTemplate::parse(std::string source) {
  auto ast = parse_template(source);
  if (!ast) return error(ast.status().code(), "chat template, {}", ast.status().message());
  return ChatTemplate(std::shared_ptr<const Ast>(std::move(*ast)));
}

const std::string& ChatTemplate::source() const {
  return ast_->source;
}

Result<std::string> ChatTemplate::render(const RenderInput& input) const {
  return render(input, Limits{});
}

Result<std::string> ChatTemplate::render(const RenderInput& input, const Limits& wanted) const {
  if (!input.messages.is_array())
    return invalid_argument("the messages must be a list, found {}.", input.messages.type_name());
  Limits limits = wanted;
  const size_t input_bytes =
      ast_->source.size() + text_bytes(input.messages) + text_bytes(input.tools) + text_bytes(input.variables);
  limits.memory_bytes = std::max(limits.memory_bytes, 64 * input_bytes);
  Heap heap(limits);
  Interpreter interpreter(*ast_, heap, input.now);
  NEREID_RETURN_IF_ERROR(define_inputs(interpreter, heap, input));
  auto text = interpreter.run();
  if (text.is_ok() || interpreter.was_raised()) return text;
  return error(text.status().code(), "chat template, line {}: {}", interpreter.line(), text.status().message());
}

}  // namespace nereid::chat
