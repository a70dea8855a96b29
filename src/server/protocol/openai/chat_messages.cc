// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/chat_messages.h"

#include <algorithm>
#include <map>

#include "server/protocol/openai/json_cost.h"
#include "server/protocol/openai/json_text.h"

namespace nereid::server::openai {
namespace {

constexpr std::string_view kRoles[] = {"system", "developer", "user", "assistant", "tool", "function"};

std::string read_parts(Fields& in, const Json& parts) {
  std::string joined;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string path = in.path(fmt::format("content[{}]", i));
    if (!parts[i].is_object()) {
      in.fail_type(fmt::format("content[{}]", i), "an object", parts[i]);
      return joined;
    }
    Fields part(parts[i], in.error(), path);
    const std::string type = part.required_text("type").value_or("");
    std::optional<std::string> text;
    if (type == "text" || type == "input_text" || type == "output_text") {
      text = part.required_text("text");
    } else if (type == "refusal") {
      text = part.required_text("refusal");
    } else if (type == "image_url" || type == "input_image" || type == "input_audio" || type == "file") {
      part.fail("type", "unsupported_value",
                fmt::format("Invalid content: this model reads text only, but '{}' is of the type '{}'.", path, type));
    } else {
      part.fail("type", "invalid_value",
                fmt::format("Invalid value: '{}'. Supported values are: 'text', 'refusal'.", type));
    }
    if (!text) return joined;
    if (i > 0) joined += '\n';
    joined += *text;
  }
  return joined;
}

void read_content(Fields& in, bool may_lack, Message* message) {
  const Json* content = in.any("content");
  if (!content) {
    if (!may_lack) in.require("content");
    return;
  }
  if (content->is_string())
    message->content = content->get<std::string>();
  else if (content->is_array())
    message->content = read_parts(in, *content);
  else
    in.fail_type("content", "a string or an array of parts", *content);
}

ToolCall read_call(Fields& in) {
  ToolCall call;
  call.name = in.required_text("name").value_or("");
  const Json* arguments = in.any("arguments");
  if (arguments && arguments->is_object())  // not as OpenAI has it, but meant well
    call.arguments = arguments->dump(-1, ' ', false, Json::error_handler_t::replace);
  else
    call.arguments = in.required_text("arguments").value_or("{}");
  return call;
}

void read_calls(Fields& in, Message* message) {
  if (const Json* calls = in.array("tool_calls")) {
    for (size_t i = 0; i < calls->size(); ++i) {
      const std::string name = fmt::format("tool_calls[{}]", i);
      if (!(*calls)[i].is_object()) return in.fail_type(name, "an object", (*calls)[i]);
      Fields one((*calls)[i], in.error(), in.path(name));
      one.ignore({"type", "index"});
      one.require("function");
      const Json* function = one.object("function");
      if (!function) return;
      Fields inner(*function, in.error(), one.path("function"));
      ToolCall call = read_call(inner);
      call.id = one.text("id").value_or("");
      message->tool_calls.push_back(std::move(call));
    }
  }
  if (const Json* call = in.object("function_call")) {  // before there were tools
    Fields inner(*call, in.error(), in.path("function_call"));
    message->tool_calls.push_back(read_call(inner));
  }
}

Message read_message(Fields& in) {
  Message message;
  in.require("role");
  message.role = in.word("role", kRoles).value_or("user");
  if (message.role == "developer") message.role = "system";
  if (message.role == "function") message.role = "tool";
  message.name = in.text("name").value_or("");
  if (message.role == "assistant") {
    read_calls(in, &message);
    message.reasoning = in.text(in.has("reasoning") ? "reasoning" : "reasoning_content").value_or("");
    if (const std::optional<std::string> refusal = in.text("refusal")) message.content = *refusal;
  }
  message.tool_call_id = in.text("tool_call_id").value_or("");
  read_content(in, message.role == "assistant" && (!message.tool_calls.empty() || !message.content.empty()), &message);
  in.ignore({"audio", "annotations", "function_call"});
  return message;
}

void append_member(std::string* out, std::string_view name, std::string_view value) {
  *out += fmt::format(",\"{}\":", name);
  append_json_string(out, value);
}

// The object the arguments are, or their text as it is.
void append_arguments(std::string* out, const std::string& arguments) {
  // A text that would be too large a document is left a text.
  const bool is_small = document_bytes(arguments) <= kMaxDocumentBytes;
  const Result<Json> json = parse_json(arguments, {.max_depth = 64, .max_bytes = is_small ? arguments.size() : 0});
  if (json.is_ok() && json->is_object() && has_small_objects(*json))
    *out += arguments;
  else
    append_json_string(out, arguments);
}

}  // namespace

void name_results(std::vector<Message>* messages) {
  std::map<std::string_view, std::string_view> names;  // of the calls so far, by id
  for (Message& message : *messages) {
    if (message.role == "tool" && message.name.empty())
      if (const auto call = names.find(message.tool_call_id); call != names.end()) message.name = call->second;
    for (const ToolCall& call : message.tool_calls)
      if (!call.id.empty()) names[call.id] = call.name;
  }
}

std::vector<Message> read_messages(Fields& fields) {
  std::vector<Message> messages;
  fields.require("messages");
  const Json* list = fields.array("messages");
  if (!list) return messages;
  if (list->empty()) {
    fields.fail("messages", "empty_array",
                "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array "
                "instead.");
  }
  for (size_t i = 0; i < list->size() && !fields.error()->is_set(); ++i) {
    const std::string path = fmt::format("messages[{}]", i);
    if (!(*list)[i].is_object()) {
      fields.fail_type(path, "an object", (*list)[i]);
      break;
    }
    Fields in((*list)[i], fields.error(), path);
    messages.push_back(read_message(in));
    in.log_unknown("/v1/chat/completions");
  }
  name_results(&messages);
  return messages;
}

std::string template_messages(const std::vector<Message>& messages) {
  std::string out = "[";
  for (const Message& message : messages) {
    if (out.size() > 1) out += ',';
    out += "{\"role\":";
    append_json_string(&out, message.role);
    append_member(&out, "content", message.content);
    if (!message.name.empty()) append_member(&out, "name", message.name);
    if (!message.reasoning.empty()) append_member(&out, "reasoning_content", message.reasoning);
    if (!message.tool_call_id.empty()) append_member(&out, "tool_call_id", message.tool_call_id);
    if (!message.tool_calls.empty()) {
      out += ",\"tool_calls\":[";
      for (const ToolCall& call : message.tool_calls) {
        if (&call != message.tool_calls.data()) out += ',';
        out += "{\"type\":\"function\"";
        if (!call.id.empty()) append_member(&out, "id", call.id);
        out += ",\"function\":{\"name\":";
        append_json_string(&out, call.name);
        out += ",\"arguments\":";
        append_arguments(&out, call.arguments);
        out += "}}";
      }
      out += ']';
    }
    out += '}';
  }
  return out += ']';
}

std::vector<Message> with_tools_as_text(std::vector<Message> messages, std::string_view tools_json) {
  std::vector<Message> out;
  if (!tools_json.empty()) {
    std::string told = fmt::format(
        "You may call these functions to help with the user's request. Their signatures:\n<tools>\n{}\n</tools>\n"
        "To call one, answer with nothing but a JSON object with its name and arguments between tags:\n"
        "<tool_call>\n{{\"name\": <name>, \"arguments\": <arguments>}}\n</tool_call>",
        tools_json);
    if (!messages.empty() && messages[0].role == "system") {
      messages[0].content += "\n\n" + told;
    } else {
      out.push_back({.role = "system", .content = std::move(told)});
    }
  }
  bool joins = false;  // results that follow each other are one turn: roles must alternate in many a template
  for (Message& message : messages) {
    for (const ToolCall& call : message.tool_calls) {
      if (!message.content.empty()) message.content += '\n';
      std::string name;
      append_json_string(&name, call.name);
      std::string arguments;
      append_arguments(&arguments, call.arguments);
      message.content += fmt::format("<tool_call>\n{{\"name\": {}, \"arguments\": {}}}\n</tool_call>", name, arguments);
    }
    message.tool_calls.clear();
    const bool is_result = message.role == "tool";
    if (is_result) {
      message = {.role = "user", .content = fmt::format("<tool_response>\n{}\n</tool_response>", message.content)};
    }
    if (is_result && joins)
      out.back().content += "\n" + message.content;
    else
      out.push_back(std::move(message));
    joins = is_result;
  }
  return out;
}

}  // namespace nereid::server::openai
