// SPDX-License-Identifier: Apache-2.0
// Checks on the way in.
#include "llm/chat/input.h"

#include <algorithm>
#include <array>

namespace nereid::chat {
namespace {

constexpr int kMaxInputDepth = 128;

// Where the text nests too deep; the parser itself would go as deep as memory lasts.
bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxInputDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

constexpr std::array<std::string_view, 3> kReasoningNames = {"reasoning_content", "thinking", "reasoning"};

OrderedJson normalize_message(const OrderedJson& message) {
  OrderedJson out = OrderedJson::object();
  const OrderedJson* reasoning = nullptr;
  for (std::string_view name : kReasoningNames) {
    const auto it = message.find(name);
    if (!reasoning && it != message.end() && !it->is_null()) reasoning = &*it;
  }
  // transformers puts `thinking` first; templates that print whole messages show that.
  if (reasoning) out["thinking"] = *reasoning;
  for (const auto& [name, value] : message.items()) {
    if (!value.is_null()) out[name] = value;
  }
  if (reasoning) out["reasoning_content"] = *reasoning;
  return out;
}

}  // namespace

Result<OrderedJson> parse_ordered_json(std::string_view text) {
  if (is_too_deep(text)) return invalid_argument("the JSON is nested more than {} deep.", kMaxInputDepth);
  OrderedJson json = OrderedJson::parse(text, nullptr, false);
  if (!json.is_discarded()) return json;
  return invalid_argument("the text ({} bytes) is no JSON.", text.size());
}

Result<OrderedJson> normalize_messages(const OrderedJson& messages) {
  if (!messages.is_array()) return invalid_argument("the messages must be a list, found {}.", messages.type_name());
  OrderedJson out = OrderedJson::array();
  for (const OrderedJson& message : messages) {
    if (!message.is_object()) {
      return invalid_argument("message {} must be an object with a role, found {}.", out.size() + 1,
                              message.type_name());
    }
    out.push_back(normalize_message(message));
  }
  return out;
}

Result<std::tm> parse_iso_time(std::string_view text) {
  std::tm time{};
  for (const char* format :
       {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d"}) {
    time = {};
    const std::string copy(text);
    const char* end = strptime(copy.c_str(), format, &time);
    if (!end || *end != '\0' || copy.size() != text.size()) continue;
    time.tm_isdst = -1;
    std::tm checked = time;
    // mktime fills in the day of the week, and moves a day that does not exist.
    if (std::mktime(&checked) == -1 || checked.tm_mday != time.tm_mday) break;
    return checked;
  }
  return invalid_argument("'{}' is no time such as 2025-07-26 or 2025-07-26T12:34:56.", text);
}

}  // namespace nereid::chat
