// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/response_request.h"

#include <algorithm>
#include <array>

#include "server/protocol/openai/json_text.h"
#include "server/protocol/openai/raw_json.h"

namespace nereid::server::openai {
namespace {

std::string text_of(Fields& in, std::string_view name) {
  const Json* content = in.any(name);
  if (!content) {
    in.require(name);
    return "";
  }
  if (content->is_string()) return content->get<std::string>();
  std::string joined;
  if (!content->is_array()) in.fail_type(name, "a string or an array of parts", *content);
  for (size_t i = 0; content->is_array() && i < content->size(); ++i) {
    const std::string path = fmt::format("{}[{}]", name, i);
    if (!(*content)[i].is_object()) {
      in.fail_type(path, "an object", (*content)[i]);
      break;
    }
    Fields part((*content)[i], in.error(), in.path(path));
    static constexpr std::string_view kTypes[] = {"input_text", "output_text", "text", "refusal"};
    const std::string type = part.word("type", kTypes).value_or("input_text");
    if (i > 0) joined += '\n';
    joined += part.required_text(type == "refusal" ? "refusal" : "text").value_or("");
  }
  return joined;
}

void read_item(Fields& in, std::vector<Message>* messages) {
  const std::string type = in.text("type").value_or("message");
  if (type == "message") {
    static constexpr std::string_view kItemRoles[] = {"user", "assistant", "system", "developer"};
    in.require("role");
    std::string role = in.word("role", kItemRoles).value_or("user");
    if (role == "developer") role = "system";
    messages->push_back({.role = std::move(role), .content = text_of(in, "content")});
  } else if (type == "function_call") {
    // Calls that follow each other, and the words before them, are one turn.
    if (messages->empty() || messages->back().role != "assistant") messages->push_back({.role = "assistant"});
    messages->back().tool_calls.push_back({in.required_text("call_id").value_or(""),
                                           in.required_text("name").value_or(""),
                                           in.required_text("arguments").value_or("{}")});
  } else if (type == "function_call_output") {
    Message result{.role = "tool", .content = text_of(in, "output")};
    result.tool_call_id = in.required_text("call_id").value_or("");
    messages->push_back(std::move(result));
  } else if (type != "reasoning") {
    in.fail(
        "type", "invalid_value",
        fmt::format("Invalid value: '{}'. Supported values are: 'message', 'function_call', 'function_call_output', "
                    "'reasoning'.",
                    type));
  }
}

void read_input(Fields& fields, std::vector<Message>* messages) {
  fields.require("input");
  const Json* input = fields.any("input");
  if (!input) return;
  if (input->is_string()) {
    messages->push_back({.role = "user", .content = input->get<std::string>()});
    return;
  }
  if (!input->is_array() || input->empty()) return fields.fail_type("input", "a string or an array of items", *input);
  for (size_t i = 0; i < input->size() && !fields.error()->is_set(); ++i) {
    const std::string path = fmt::format("input[{}]", i);
    if (!(*input)[i].is_object()) return fields.fail_type(path, "an object", (*input)[i]);
    Fields in((*input)[i], fields.error(), path);
    read_item(in, messages);
  }
  name_results(messages);
}

// {"type":"function","name":...,"parameters":...}: one level less than those of chats.
void read_tools(Fields& fields, std::string_view body, ToolSet* set) {
  const Json* list = fields.array("tools");
  if (list && list->size() > kMaxTools)
    return fields.fail(
        "tools", "array_above_max_length",
        fmt::format("Invalid 'tools': array too long. Expected an array with maximum length {}, but got an array with "
                    "length {} instead.",
                    kMaxTools, list->size()));
  static constexpr std::string_view kTypes[] = {"function"};
  for (size_t i = 0; list && i < list->size() && !fields.error()->is_set(); ++i) {
    const std::string path = fmt::format("tools[{}]", i);
    if (!(*list)[i].is_object()) return fields.fail_type(path, "an object", (*list)[i]);
    Fields in((*list)[i], fields.error(), path);
    in.require("type");
    in.word("type", kTypes);
    const std::array<JsonStep, 3> where = {std::string_view("tools"), i, std::string_view("parameters")};
    Tool tool = read_function(in);
    if (in.has("parameters")) tool.parameters = raw_value(body, where);
    tool.text = R"({"type":"function","function":{"name":)";
    append_json_string(&tool.text, tool.name);
    if (const std::optional<std::string> description = in.text("description")) {
      tool.text += R"(,"description":)";
      append_json_string(&tool.text, *description);
    }
    if (!tool.parameters.empty()) tool.text += R"(,"parameters":)" + tool.parameters;
    tool.text += "}}";
    set->tools.push_back(std::move(tool));
  }
}

void read_tool_choice(Fields& fields, ToolSet* set) {
  set->choice = set->tools.empty() ? ToolChoice::kNone : ToolChoice::kAuto;
  const Json* choice = fields.any("tool_choice");
  if (!choice || set->tools.empty()) return;
  static constexpr std::string_view kWords[] = {"none", "auto", "required"};
  if (choice->is_object()) {
    Fields in(*choice, fields.error(), "tool_choice");
    static constexpr std::string_view kTypes[] = {"function"};
    in.word("type", kTypes);
    set->named = in.required_text("name").value_or("");
    set->choice = ToolChoice::kNamed;
    if (!is_tool(*set, set->named))
      in.fail("name", "invalid_value",
              fmt::format("Tool choice '{}' not found in the tools that the request names.", set->named));
    return;
  }
  const std::optional<std::string> word = fields.word("tool_choice", kWords);
  if (word == "none") set->choice = ToolChoice::kNone;
  if (word == "required") set->choice = ToolChoice::kRequired;
}

void read_format(Fields& fields, std::string_view body, CommonRequest* common) {
  const Json* text = fields.object("text");
  if (!text) return;
  Fields outer(*text, fields.error(), "text");
  outer.ignore({"verbosity"});
  const Json* format = outer.object("format");
  if (!format) return;
  Fields in(*format, fields.error(), "text.format");
  static constexpr std::string_view kTypes[] = {"text", "json_object", "json_schema"};
  in.require("type");
  const std::string type = in.word("type", kTypes).value_or("text");
  if (type == "json_object") common->params.grammar.kind = sample::GrammarKind::kJson;
  if (type == "json_schema") {
    in.required_text("name");
    in.require("schema");
    in.object("schema");
    static constexpr std::array<JsonStep, 3> kPath = {std::string_view("text"), std::string_view("format"),
                                                      std::string_view("schema")};
    common->params.grammar = {sample::GrammarKind::kJsonSchema, std::string(raw_value(body, kPath))};
  }
  common->grammar_param = "text.format";
}

std::string raw_member(std::string_view body, std::string_view name, std::string_view fallback) {
  const std::array<JsonStep, 1> path = {name};
  const std::string_view found = raw_value(body, path);
  std::string text(found.empty() ? fallback : found);
  // Between values only (a string has none), and a line end would end an event's data.
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace

ResponseRequest read_response(const Json& body, const BodyReader& reader, FirstError* error) {
  Fields fields(body, error);
  ResponseRequest request;
  ChatRequest& chat = request.chat;
  chat.common.model = fields.text("model").value_or("");
  chat.common.params = read_sampling(fields, reader.random_seed);
  chat.common.stream = fields.boolean("stream").value_or(false);
  chat.common.user = read_user(fields);
  if (const std::optional<std::string> instructions = fields.text("instructions"))
    chat.messages.push_back({.role = "system", .content = *instructions});
  read_input(fields, &chat.messages);
  read_tools(fields, reader.body, &chat.tools);
  read_tool_choice(fields, &chat.tools);
  chat.tools.parallel = fields.boolean("parallel_tool_calls").value_or(true);
  read_format(fields, reader.body, &chat.common);
  const std::optional<int64_t> most = fields.integer("max_output_tokens", 1, INT32_MAX);
  chat.has_max_tokens = most.has_value();
  if (most) chat.common.params.max_tokens = static_cast<int32_t>(*most);
  for (const std::string_view name : {"previous_response_id", "conversation", "prompt"}) {
    if (fields.any(name))
      fields.fail(name, "unsupported_parameter",
                  fmt::format("Responses are not stored here, so '{}' cannot be found; send the whole input.", name));
  }
  if (fields.boolean("background").value_or(false))
    fields.fail("background", "unsupported_parameter",
                "Responses are not stored here, so none runs in the background.");
  fields.ignore({"store", "include", "truncation", "reasoning", "metadata", "service_tier", "prompt_cache_key",
                 "prompt_cache_retention", "max_tool_calls", "top_logprobs", "stream_options"});
  check_sampling(chat.common.params, fields);
  fields.log_unknown("/v1/responses");
  request.instructions = raw_member(reader.body, "instructions", "null");
  request.metadata = raw_member(reader.body, "metadata", "{}");
  request.tools = raw_member(reader.body, "tools", "[]");
  request.tool_choice = raw_member(reader.body, "tool_choice", "\"auto\"");
  request.format = raw_member(reader.body, "text", R"({"format":{"type":"text"}})");
  return request;
}

}  // namespace nereid::server::openai
