// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/raw_json.h"

#include <string>

#include "base/json.h"

namespace nereid::server::openai {
namespace {

// Reads values off the front of a valid JSON text.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) { skip_space(); }

  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  void skip(char expected) {
    if (peek() == expected) ++at_;
    skip_space();
  }

  std::string_view value() {
    const size_t begin = at_;
    int depth = 0;
    while (!at_end()) {
      const char c = text_[at_];
      if (c == '"') {
        skip_string();
      } else if (c == '{' || c == '[') {
        ++depth;
        ++at_;
      } else if (c == '}' || c == ']') {
        if (depth == 0) break;
        --depth;
        ++at_;
      } else if (depth == 0 && (c == ',' || c == ':' || is_space(c))) {
        break;
      } else {
        ++at_;
        continue;
      }
      if (depth == 0) break;
    }
    const std::string_view found = text_.substr(begin, at_ - begin);
    skip_space();
    return found;
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
  void skip_space() {
    while (!at_end() && is_space(text_[at_])) ++at_;
  }
  void skip_string() {
    for (++at_; !at_end(); ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == '"') {
        ++at_;
        return;
      }
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

bool is_key(std::string_view raw, std::string_view key) {
  if (raw.size() >= 2 && raw.find('\\') == std::string_view::npos) return raw.substr(1, raw.size() - 2) == key;
  const Result<Json> parsed = parse_json(raw);
  return parsed.is_ok() && parsed->is_string() && parsed->get_ref<const std::string&>() == key;
}

std::string_view member(std::string_view object, std::string_view key) {
  std::string_view found;
  Cursor cursor(object);
  if (cursor.peek() != '{') return found;
  for (cursor.skip('{'); !cursor.at_end() && cursor.peek() != '}'; cursor.skip(',')) {
    const std::string_view name = cursor.value();
    cursor.skip(':');
    const std::string_view value = cursor.value();
    if (is_key(name, key)) found = value;
  }
  return found;
}

std::string_view element(std::string_view array, size_t index) {
  Cursor cursor(array);
  if (cursor.peek() != '[') return {};
  for (cursor.skip('['); !cursor.at_end() && cursor.peek() != ']'; cursor.skip(',')) {
    const std::string_view value = cursor.value();
    if (index-- == 0) return value;
  }
  return {};
}

}  // namespace

std::string_view raw_value(std::string_view json, std::span<const JsonStep> path) {
  std::string_view found = Cursor(json).value();
  for (const JsonStep& step : path) {
    const auto* key = std::get_if<std::string_view>(&step);
    found = key ? member(found, *key) : element(found, std::get<size_t>(step));
  }
  return found;
}

}  // namespace nereid::server::openai
