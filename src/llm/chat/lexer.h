// SPDX-License-Identifier: Apache-2.0
// Cuts a template into tokens, with jinja2's white-space rules as transformers sets them: trim_blocks and lstrip_blocks
// are on, one newline at the very end is dropped, and every kind of line end becomes "\n".
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace nereid::chat {

enum class TokenKind : uint8_t {
  kData,           // text outside of tags
  kVariableBegin,  // {{
  kVariableEnd,    // }}
  kBlockBegin,     // {%
  kBlockEnd,       // %}
  kName,
  kString,  // text is the decoded content
  kInteger,
  kFloat,
  kOperator,  // text is one of + - * / // % ** ~ [ ] ( ) { } == != > >= < <= = . : | , ;
  kEnd,
};

struct Token {
  TokenKind kind;
  int line;  // from 1
  std::string_view text;
  int64_t integer = 0;
  double real = 0;

  bool is(TokenKind k, std::string_view t) const { return kind == k && text == t; }
  bool is_operator(std::string_view t) const { return is(TokenKind::kOperator, t); }
  bool is_name(std::string_view t) const { return is(TokenKind::kName, t); }
  // As an error message names it: 'endif', 'end of print statement', ...
  std::string_view describe() const;
};

// The texts of the tokens are views into `source` or into `*pool`, which takes what had to be decoded.
// The last token is always kEnd. Errors: kInvalidArgument, "line N: ...".
Result<std::vector<Token>> tokenize(std::string_view source, std::deque<std::string>* pool);

// "\r\n" and "\r" become "\n", and one "\n" at the end goes: what tokenize() expects.
std::string normalize_newlines(std::string_view source);

}  // namespace nereid::chat
