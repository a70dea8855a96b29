// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/tools/python_literal.h"

#include "base/json.h"
#include "server/protocol/openai/tools/untyped_value.h"

namespace nereid::server::openai {
namespace {

constexpr int kMaxDepth = 64;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Every function reads from the front of what is left, and says whether it was what it reads.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool keywords(std::string* out) {
    *out += '{';
    for (bool is_first = true; !at_end(); is_first = false) {
      if (!is_first && !sign(',')) return false;
      if (at_end()) break;  // a comma may be the last
      if (!is_first) *out += ", ";
      std::string name;
      while (at_ < text_.size() && is_name_character(text_[at_])) name += text_[at_++];
      if (name.empty() || !sign('=')) return false;
      *out += json_string(name) + ": ";
      if (!value(out, 0)) return false;
    }
    *out += '}';
    return true;
  }

 private:
  bool at_end() {
    at_ = std::min(text_.find_first_not_of(" \n\r\t", at_), text_.size());
    return at_ == text_.size();
  }
  bool sign(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool value(std::string* out, int depth) {
    if (at_end() || depth > kMaxDepth) return false;
    switch (text_[at_]) {
      case '"':
      case '\'':
        return strings(out);
      case '[':
        return list(']', out, depth);
      case '(':
        return list(')', out, depth);
      case '{':
        return dict(out, depth);
      default:
        return word(out);
    }
  }

  bool list(char end, std::string* out, int depth) {
    ++at_;
    *out += '[';
    for (bool is_first = true; !sign(end); is_first = false) {
      if (!is_first && !sign(',')) return false;
      if (!is_first && sign(end)) break;
      if (!is_first) *out += ", ";
      if (!value(out, depth + 1)) return false;
    }
    *out += ']';
    return true;
  }

  bool dict(std::string* out, int depth) {
    ++at_;
    *out += '{';
    for (bool is_first = true; !sign('}'); is_first = false) {
      if (!is_first && !sign(',')) return false;
      if (!is_first && sign('}')) break;
      if (!is_first) *out += ", ";
      if (at_end() || (text_[at_] != '"' && text_[at_] != '\'') || !strings(out) || !sign(':')) return false;
      *out += ": ";
      if (!value(out, depth + 1)) return false;
    }
    *out += '}';
    return true;
  }

  // Strings that follow each other are one.
  bool strings(std::string* out) {
    std::string text;
    do {
      if (!string(&text)) return false;
    } while (!at_end() && (text_[at_] == '"' || text_[at_] == '\''));
    *out += json_string(text);
    return true;
  }

  bool string(std::string* text) {
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote) {
      char c = text_[at_++];
      if (c != '\\') {
        *text += c;
        continue;
      }
      if (at_ == text_.size()) return false;
      c = text_[at_++];
      constexpr std::string_view kLetters = "ntr0bf", kMeanings("\n\t\r\0\b\f", 6);
      if (const size_t letter = kLetters.find(c); letter != kLetters.npos)
        *text += kMeanings[letter];
      else if (c == '\\' || c == '\'' || c == '"')
        *text += c;
      else if (c != '\n')  // that joins two lines; what Python does not know it leaves as it is
        (*text += '\\') += c;
    }
    return at_++ < text_.size();
  }

  bool word(std::string* out) {
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (is_name_character(text_[at_]) || std::string_view("+-.").find(text_[at_]) != std::string_view::npos))
      ++at_;
    const std::string_view found = text_.substr(begin, at_ - begin);
    if (found == "True" || found == "true") return *out += "true", true;
    if (found == "False" || found == "false") return *out += "false", true;
    if (found == "None" || found == "null") return *out += "null", true;
    if (const Result<Json> number = parse_json(found); !number.is_ok() || !number->is_number()) return false;
    *out += found;
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::optional<std::string> keywords_as_json(std::string_view arguments) {
  std::string out;
  if (!Reader(arguments).keywords(&out)) return std::nullopt;
  return out;
}

}  // namespace nereid::server::openai
