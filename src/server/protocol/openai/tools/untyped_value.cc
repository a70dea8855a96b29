// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/tools/untyped_value.h"

#include "base/json.h"

namespace nereid::server::openai {
namespace {

constexpr int kMaxDepth = 64;

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \n\r\t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \n\r\t") - first + 1);
}

}  // namespace

std::string json_string(std::string_view text) {
  return Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

ParameterTypes::ParameterTypes(std::string_view schema) {
  const Result<Json> json = parse_json(schema, {.max_depth = 100, .max_bytes = schema.size()});
  const Json* properties = json.is_ok() ? json_find(*json, "properties") : nullptr;
  if (!properties || !properties->is_object()) return;
  for (const auto& [name, property] : properties->items()) {
    const Json* type = json_find(property, "type");
    if (!type) continue;
    const auto is = [](const Json& one, const char* word) {
      return one.is_string() && one.get_ref<const std::string&>() == word;
    };
    if (is(*type, "string")) types_[name] = Type::kText;
    // ["string", "null"]: whoever may be left out.
    if (type->is_array() && type->size() == 2 && (is((*type)[0], "string") || is((*type)[1], "string")) &&
        (is((*type)[0], "null") || is((*type)[1], "null")))
      types_[name] = Type::kTextOrNull;
  }
}

std::string ParameterTypes::json(std::string_view parameter, std::string_view value) const {
  const auto found = types_.find(parameter);
  const Type type = found == types_.end() ? Type::kAny : found->second;
  const std::string_view bare = trimmed(value);
  if (type == Type::kText) return json_string(value);
  if (bare == "null" || bare == "None") return "null";
  if (type == Type::kTextOrNull) return json_string(value);
  if (bare == "True") return "true";
  if (bare == "False") return "false";
  const Result<Json> json = parse_json(bare, {.max_depth = kMaxDepth, .max_bytes = bare.size()});
  // JSON's own strings are texts with quotes here only where a schema has no word for the parameter.
  return json.is_ok() ? std::string(bare) : json_string(value);
}

}  // namespace nereid::server::openai
