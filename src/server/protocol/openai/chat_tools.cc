// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/chat_tools.h"

#include <algorithm>
#include <array>
#include <map>

#include "server/protocol/openai/json_text.h"
#include "server/protocol/openai/raw_json.h"

namespace nereid::server::openai {
namespace {

constexpr size_t kMaxName = 64;  // OpenAI's
bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxName && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

bool is_number_of_tools_right(Fields& fields, std::string_view name, const Json& list) {
  if (list.size() <= kMaxTools) return true;
  fields.fail(
      name, "array_above_max_length",
      fmt::format("Invalid '{}': array too long. Expected an array with maximum length {}, but got an array with "
                  "length {} instead.",
                  name, kMaxTools, list.size()));
  return false;
}

void read_tool_list(Fields& fields, std::string_view body, ToolSet* set) {
  const Json* list = fields.array("tools");
  if (!list || !is_number_of_tools_right(fields, "tools", *list)) return;
  static constexpr std::string_view kTypes[] = {"function"};
  for (size_t i = 0; i < list->size(); ++i) {
    const std::string path = fmt::format("tools[{}]", i);
    if (!(*list)[i].is_object()) return fields.fail_type(path, "an object", (*list)[i]);
    Fields in((*list)[i], fields.error(), path);
    in.require("type");
    in.word("type", kTypes);
    in.require("function");
    const Json* function = in.object("function");
    if (!function) return;
    Fields inner(*function, fields.error(), in.path("function"));
    Tool tool = read_function(inner);
    const std::array<JsonStep, 4> where = {std::string_view("tools"), i, std::string_view("function"),
                                           std::string_view("parameters")};
    tool.text = raw_value(body, std::span(where).first(2));
    if (inner.has("parameters")) tool.parameters = raw_value(body, where);
    set->tools.push_back(std::move(tool));
  }
}

void read_function_list(Fields& fields, std::string_view body, ToolSet* set) {
  const Json* list = fields.array("functions");
  if (!list || !is_number_of_tools_right(fields, "functions", *list)) return;
  set->is_legacy = true;
  for (size_t i = 0; i < list->size(); ++i) {
    const std::string path = fmt::format("functions[{}]", i);
    if (!(*list)[i].is_object()) return fields.fail_type(path, "an object", (*list)[i]);
    Fields in((*list)[i], fields.error(), path);
    Tool tool = read_function(in);
    const std::array<JsonStep, 3> where = {std::string_view("functions"), i, std::string_view("parameters")};
    tool.text = fmt::format(R"({{"type":"function","function":{}}})", raw_value(body, std::span(where).first(2)));
    if (in.has("parameters")) tool.parameters = raw_value(body, where);
    set->tools.push_back(std::move(tool));
  }
}

void choose_named(Fields& fields, std::string_view member, const Json& function, ToolSet* set) {
  Fields in(function, fields.error(), std::string(member));
  set->named = in.required_text("name").value_or("");
  set->choice = ToolChoice::kNamed;
  if (!is_tool(*set, set->named) && !fields.error()->is_set()) {
    fields.fail(member, "invalid_value",
                fmt::format("Tool choice '{}' not found in the tools that the request names.", set->named));
  }
}

// {"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"f"}}]}}
void choose_allowed(Fields& fields, Fields& in, ToolSet* set) {
  const Json* allowed = in.object("allowed_tools");
  Fields inner(allowed ? *allowed : in.json(), fields.error(), allowed ? "tool_choice.allowed_tools" : "tool_choice");
  static constexpr std::string_view kModes[] = {"auto", "required"};
  set->choice = inner.word("mode", kModes).value_or("auto") == "auto" ? ToolChoice::kAuto : ToolChoice::kRequired;
  const Json* list = inner.array("tools");
  if (!list) return inner.require("tools");
  std::vector<std::string> names;
  for (const Json& one : *list) {
    const Json* function = json_find(one, "function");
    const Json* name = json_find(function ? *function : one, "name");
    if (name && name->is_string()) names.push_back(name->get<std::string>());
  }
  std::erase_if(set->tools,
                [&](const Tool& t) { return std::find(names.begin(), names.end(), t.name) == names.end(); });
}

void read_choice(Fields& fields, ToolSet* set) {
  const std::string_view member = set->is_legacy ? "function_call" : "tool_choice";
  const Json* choice = fields.any(member);
  if (!choice) return;
  if (set->tools.empty()) {
    const auto* said = choice->get_ptr<const std::string*>();
    if (!said || (*said != "none" && *said != "auto"))
      fields.fail(member, "invalid_value", fmt::format("'{}' is only allowed when 'tools' are specified.", member));
    return;
  }
  if (choice->is_object()) {
    Fields in(*choice, fields.error(), std::string(member));
    if (set->is_legacy) return choose_named(fields, member, *choice, set);
    static constexpr std::string_view kTypes[] = {"function", "allowed_tools"};
    in.require("type");
    const std::optional<std::string> type = in.word("type", kTypes);
    if (!type) return;
    if (*type == "allowed_tools") return choose_allowed(fields, in, set);
    in.require("function");
    if (const Json* function = in.object("function")) choose_named(fields, "tool_choice.function", *function, set);
    return;
  }
  static constexpr std::string_view kWords[] = {"none", "auto", "required"};
  const std::optional<std::string> word = fields.word(member, kWords);
  if (word == "none") set->choice = ToolChoice::kNone;
  if (word == "required") set->choice = ToolChoice::kRequired;
}

const Tool* find_tool(const ToolSet& set, std::string_view name) {
  const auto tool = std::find_if(set.tools.begin(), set.tools.end(), [&](const Tool& t) { return t.name == name; });
  return tool == set.tools.end() ? nullptr : &*tool;
}

std::string schema_of(const Tool& tool) {
  return tool.parameters.empty() ? R"({"type":"object","properties":{}})" : tool.parameters;
}

// A schema refers to its definitions from the root; in a list of calls the root is another.
std::string list_schema(const ToolSet& set) {
  std::string items;
  std::map<std::string_view, std::string> definitions;
  for (const Tool& tool : set.tools) {
    if (!items.empty()) items += ',';
    std::string name;
    append_json_string(&name, tool.name);
    items += fmt::format(R"({{"type":"object","properties":{{"name":{{"type":"string","enum":[{}]}},"parameters":{}}},)"
                         R"("required":["name","parameters"],"additionalProperties":false}})",
                         name, schema_of(tool));
    for (const std::string_view word : {"$defs", "definitions"}) {
      const std::array<JsonStep, 1> path = {word};
      std::string_view found = raw_value(tool.parameters, path);
      if (found.size() < 2 || found[0] != '{') continue;
      found = found.substr(1, found.size() - 2);
      if (found.find_first_not_of(" \n\r\t") == std::string_view::npos) continue;
      std::string& all = definitions[word];
      all += fmt::format("{}{}", all.empty() ? "" : ",", found);
    }
  }
  std::string out = fmt::format(R"({{"type":"array","minItems":1{},"items":{{"anyOf":[{}]}})",
                                set.parallel ? "" : R"(,"maxItems":1)", items);
  for (const auto& [word, all] : definitions) out += fmt::format(R"(,"{}":{{{}}})", word, all);
  return out += '}';
}

// Free text in which nothing but a call of a tool may follow the trigger. "": the format has none.
std::string tag_grammar(const ToolSet& set, const ToolFormat& format) {
  std::string tags, trigger;
  for (const Tool& tool : set.tools) {
    const ToolFrame frame = format.frame(tool.name);
    tags += tags.empty() ? R"({"type":"tag","begin":)" : R"(,{"type":"tag","begin":)";
    append_json_string(&tags, frame.begin);
    tags += fmt::format(R"(,"content":{{"type":"json_schema","style":"{}","json_schema":{}}},"end":)", frame.style,
                        schema_of(tool));
    append_json_string(&tags, frame.end);
    tags += '}';
    trigger = frame.trigger;
  }
  if (trigger.empty()) return {};
  std::string out = R"({"type":"structural_tag","format":{"type":"triggered_tags","triggers":[)";
  append_json_string(&out, trigger);
  return out += fmt::format(R"(],"tags":[{}],"stop_after_first":{}}}}})", tags, !set.parallel);
}

}  // namespace

Tool read_function(Fields& in) {
  Tool tool;
  tool.name = in.required_text("name").value_or("");
  if (!in.error()->is_set() && !is_name(tool.name)) {
    in.fail(
        "name", "invalid_value",
        fmt::format("Invalid '{}': '{}' is no name of a function; expected 1 to {} letters, digits, '_', '-' or '.'.",
                    in.path("name"), tool.name, kMaxName));
  }
  in.text("description");
  const Json* parameters = in.object("parameters");
  if (parameters && !has_small_objects(*parameters))
    in.fail("parameters", "invalid_value",
            fmt::format("Invalid '{}': an object in it has more than {} members.", in.path("parameters"),
                        kMaxOrderedMembers));
  tool.is_strict = in.boolean("strict").value_or(false);
  return tool;
}

bool is_tool(const ToolSet& set, std::string_view name) {
  return find_tool(set, name) != nullptr;
}

ToolNames ToolSet::names() const {
  ToolNames names;
  for (const Tool& tool : tools) names.emplace_back(tool.name, tool.parameters);
  return names;
}

std::string ToolSet::json() const {
  std::string out = "[";
  for (const Tool& tool : tools) out += (out.size() > 1 ? "," : "") + tool.text;
  return out += ']';
}

ToolSet read_tools(Fields& fields, std::string_view body) {
  ToolSet set;
  read_tool_list(fields, body, &set);
  if (!fields.has("tools")) read_function_list(fields, body, &set);
  if (!set.tools.empty()) set.choice = ToolChoice::kAuto;
  read_choice(fields, &set);
  if (set.tools.empty()) set.choice = ToolChoice::kNone;
  set.parallel = fields.boolean("parallel_tool_calls").value_or(true) && !set.is_legacy;
  fields.ignore({"functions", "function_call", "tool_choice"});
  return set;
}

sample::GrammarSpec tool_grammar(const ToolSet& set, const ToolFormat* format, bool always) {
  switch (set.choice) {
    case ToolChoice::kNone:
      return {};
    case ToolChoice::kNamed:
      return {sample::GrammarKind::kJsonSchema, schema_of(*find_tool(set, set.named))};
    case ToolChoice::kRequired:
      return {sample::GrammarKind::kJsonSchema, list_schema(set)};
    case ToolChoice::kAuto:
      break;
  }
  const bool is_strict = std::any_of(set.tools.begin(), set.tools.end(), [](const Tool& t) { return t.is_strict; });
  if (!format || !(is_strict || always)) return {};
  std::string tags = tag_grammar(set, *format);
  if (tags.empty()) return {};
  return {sample::GrammarKind::kStructuralTag, std::move(tags)};
}

std::unique_ptr<ToolParser> tool_parser(const ToolSet& set, const ToolFormat* format) {
  switch (set.choice) {
    case ToolChoice::kNone:
      return nullptr;
    case ToolChoice::kNamed:
      return make_named_call(set.named);
    case ToolChoice::kRequired:
      return make_call_list(set.names());
    case ToolChoice::kAuto:
      break;
  }
  return format ? format->make(set.names()) : nullptr;
}

}  // namespace nereid::server::openai
