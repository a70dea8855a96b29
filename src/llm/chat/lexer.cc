// SPDX-License-Identifier: Apache-2.0
// The lexer: text up to the next tag, then the tag's tokens, then what white space the tag's end swallows.
#include "llm/chat/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "llm/chat/string_literal.h"
#include "llm/chat/utf8.h"

namespace nereid::chat {
namespace {

// Longest first, so that the first match is the right one.
constexpr std::array<std::string_view, 28> kOperators = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "*", "/",
                                                         "%",  "~",  "[",  "]",  "(",  ")",  "{", "}", ">", "<",
                                                         "=",  ".",  ":",  "|",  ",",  ";",  "",  ""};

bool is_ascii_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name_byte(char c) {
  return is_ascii_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

class Lexer {
 public:
  Lexer(std::string_view source, std::deque<std::string>* pool) : source_(source), pool_(pool) {}

  Result<std::vector<Token>> run() {
    while (pos_ < source_.size()) NEREID_RETURN_IF_ERROR(text_and_tag());
    push(TokenKind::kEnd, {});
    return std::move(tokens_);
  }

 private:
  template <typename... A>
  Status fail(fmt::format_string<A...> f, A&&... a) const {
    return invalid_argument("line {}: {}", line_, fmt::format(f, std::forward<A>(a)...));
  }

  bool at(std::string_view s) const { return source_.substr(pos_, s.size()) == s; }

  void advance(size_t n) {
    const std::string_view taken = source_.substr(pos_, n);
    line_ += static_cast<int>(std::count(taken.begin(), taken.end(), '\n'));
    pos_ += taken.size();
  }

  void skip_space() {
    while (pos_ < source_.size()) {
      const CodePoint c = code_point_at(source_, pos_);
      if (!is_space(c.value)) return;
      advance(c.bytes);
    }
  }

  Token& push(TokenKind kind, std::string_view text) { return tokens_.emplace_back(Token{kind, line_, text}); }

  // The data before the tag at `tag`, shortened as the tag's sign asks; lstrip is for all tags but {{.
  void push_data(size_t tag, char sign, bool may_lstrip) {
    const std::string_view text = source_.substr(pos_, tag - pos_);
    std::string_view kept = text;
    if (sign == '-') {
      kept = strip(text, Side::kRight);
    } else if (sign != '+' && may_lstrip) {
      const size_t newline = text.rfind('\n');
      const size_t line_start = newline == std::string_view::npos ? 0 : newline + 1;
      if ((line_start > 0 || at_line_start()) && strip(text.substr(line_start), Side::kLeft).empty()) {
        kept = text.substr(0, line_start);
      }
    }
    if (!kept.empty()) push(TokenKind::kData, kept);
    advance(text.size());
  }

  // Whether the last tag ended with a newline: a blank run after it is the start of a line.
  bool at_line_start() const { return pos_ == 0 || source_[pos_ - 1] == '\n'; }

  Status text_and_tag() {
    size_t tag = pos_;
    for (;; ++tag) {
      tag = source_.find('{', tag);
      if (tag == std::string_view::npos || tag + 1 >= source_.size()) {
        push(TokenKind::kData, source_.substr(pos_));
        advance(source_.size());
        return Status::ok();
      }
      const char c = source_[tag + 1];
      if (c == '%' || c == '{' || c == '#') break;
    }
    const char type = source_[tag + 1];
    const char third = tag + 2 < source_.size() ? source_[tag + 2] : ' ';
    const char sign = third == '-' || third == '+' ? third : ' ';
    push_data(tag, sign, type != '{');
    const size_t open = sign == ' ' ? 2 : 3;
    if (type == '#') {
      advance(open);
      return comment();
    }
    if (type == '%' && raw_begins(pos_ + open)) return raw();
    push(type == '%' ? TokenKind::kBlockBegin : TokenKind::kVariableBegin, source_.substr(pos_, open));
    advance(open);
    return tag_tokens(type == '%');
  }

  // After the two closing characters: trim_blocks takes one newline, "-" all white space, "+" nothing.
  void close(char sign) {
    if (sign == '-') {
      skip_space();
    } else if (sign != '+' && at("\n")) {
      advance(1);
    }
  }

  Status comment() {
    const size_t end = source_.find("#}", pos_);
    if (end == std::string_view::npos) return fail("the comment is never closed with '#}}'.");
    const char sign = end > pos_ && (source_[end - 1] == '-' || source_[end - 1] == '+') ? source_[end - 1] : ' ';
    advance(end + 2 - pos_);
    close(sign);
    return Status::ok();
  }

  // Reads `\s* word \s* -?%}` from `at` on; 0 if it is not there, else the offset of its end.
  size_t match_word_tag(size_t at, std::string_view word, char* sign) const {
    auto blanks = [&] {
      while (at < source_.size() && is_space(code_point_at(source_, at).value)) at += code_point_at(source_, at).bytes;
    };
    blanks();
    if (source_.substr(at, word.size()) != word) return 0;
    at += word.size();
    blanks();
    *sign = ' ';
    if (at < source_.size() && (source_[at] == '-' || source_[at] == '+')) *sign = source_[at++];
    return source_.substr(at, 2) == "%}" ? at + 2 : 0;
  }

  bool raw_begins(size_t at) const {
    char sign = ' ';
    return match_word_tag(at, "raw", &sign) != 0 && sign != '+';
  }

  Status raw() {
    char sign = ' ';
    const size_t open = at("{%-") || at("{%+") ? 3 : 2;
    advance(match_word_tag(pos_ + open, "raw", &sign) - pos_);
    if (sign == '-') skip_space();  // jinja2 trims no newline here
    for (size_t tag = source_.find("{%", pos_); tag != std::string_view::npos; tag = source_.find("{%", tag + 1)) {
      const char third = tag + 2 < source_.size() ? source_[tag + 2] : ' ';
      const char before = third == '-' || third == '+' ? third : ' ';
      char after = ' ';
      const size_t end = match_word_tag(tag + (before == ' ' ? 2 : 3), "endraw", &after);
      if (end == 0) continue;
      push_data(tag, before, true);
      advance(end - pos_);
      close(after);
      return Status::ok();
    }
    return fail("the raw block is never closed with 'endraw'.");
  }

  Status tag_tokens(bool is_block) {
    const std::string_view end = is_block ? "%}" : "}}";
    std::string brackets;
    for (;;) {
      skip_space();
      if (pos_ >= source_.size()) return fail("the template ends inside a tag; '{}' is missing.", end);
      if (brackets.empty()) {
        const bool minus = at("-") && source_.substr(pos_ + 1, 2) == end;
        const bool plus = is_block && at("+") && source_.substr(pos_ + 1, 2) == end;
        if (minus || plus || at(end)) {
          push(is_block ? TokenKind::kBlockEnd : TokenKind::kVariableEnd, end);
          advance(minus || plus ? 3 : 2);
          if (is_block || minus) close(minus ? '-' : plus ? '+' : ' ');
          return Status::ok();
        }
      }
      NEREID_RETURN_IF_ERROR(token(&brackets));
    }
  }

  Status token(std::string* brackets) {
    const char c = source_[pos_];
    if (is_ascii_digit(c)) return number();
    if (is_name_byte(c)) {
      size_t n = 1;
      while (pos_ + n < source_.size() && is_name_byte(source_[pos_ + n])) ++n;
      push(TokenKind::kName, source_.substr(pos_, n));
      advance(n);
      return Status::ok();
    }
    if (c == '\'' || c == '"') return string(c);
    for (std::string_view op : kOperators) {
      if (op.empty() || !at(op)) continue;
      NEREID_RETURN_IF_ERROR(balance(op[0], brackets));
      push(TokenKind::kOperator, source_.substr(pos_, op.size()));
      advance(op.size());
      return Status::ok();
    }
    return fail("the character '{}' has no meaning in a tag.", c);
  }

  Status balance(char c, std::string* brackets) {
    if (c == '(') brackets->push_back(')');
    if (c == '[') brackets->push_back(']');
    if (c == '{') brackets->push_back('}');
    if (c != ')' && c != ']' && c != '}') return Status::ok();
    if (brackets->empty()) return fail("'{}' closes nothing.", c);
    if (brackets->back() != c) return fail("found '{}' where '{}' must close first.", c, brackets->back());
    brackets->pop_back();
    return Status::ok();
  }

  Status string(char quote) {
    size_t end = pos_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) return fail("the string that starts with {} is never closed.", quote);
    const std::string_view body = source_.substr(pos_ + 1, end - pos_ - 1);
    std::string_view text = body;
    if (body.find('\\') != std::string_view::npos) {
      auto decoded = decode_string_literal(body);
      if (!decoded) return fail("{}", decoded.status().message());
      text = pool_->emplace_back(std::move(*decoded));
    }
    push(TokenKind::kString, text);
    advance(end + 1 - pos_);
    return Status::ok();
  }

  // A run of digits that '_' may part; the offset after it, or `at` when no digit stands there.
  template <typename IsDigit>
  size_t digits(size_t at, IsDigit is_digit_of_base) const {
    size_t end = at;
    while (end < source_.size()) {
      if (is_digit_of_base(source_[end])) {
        ++end;
      } else if (end > at && source_[end] == '_' && end + 1 < source_.size() && is_digit_of_base(source_[end + 1])) {
        end += 2;
      } else {
        break;
      }
    }
    return end;
  }

  Status number() {
    const size_t whole = digits(pos_, is_ascii_digit);
    size_t end = whole;
    const bool after_dot = pos_ > 0 && source_[pos_ - 1] == '.';
    if (!after_dot && end + 1 < source_.size() && source_[end] == '.' && is_ascii_digit(source_[end + 1])) {
      end = digits(end + 1, is_ascii_digit);
    }
    if (!after_dot && end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
      const size_t sign = end + 1 < source_.size() && (source_[end + 1] == '+' || source_[end + 1] == '-') ? 1 : 0;
      if (const size_t exponent = digits(end + 1 + sign, is_ascii_digit); exponent > end + 1 + sign) end = exponent;
    }
    return end > whole ? real(end) : integer(whole);
  }

  std::string without_underscores(size_t end) const {
    std::string text(source_.substr(pos_, end - pos_));
    std::erase(text, '_');
    return text;
  }

  Status real(size_t end) {
    const std::string text = without_underscores(end);
    Token& token = push(TokenKind::kFloat, source_.substr(pos_, end - pos_));
    if (std::from_chars(text.data(), text.data() + text.size(), token.real).ec == std::errc::result_out_of_range) {
      token.real = text.find('-') == std::string::npos ? HUGE_VAL : 0.0;
    }
    advance(end - pos_);
    return Status::ok();
  }

  Status integer(size_t end) {
    int base = 10;
    const char letter = pos_ + 1 < source_.size() ? static_cast<char>(source_[pos_ + 1] | 0x20) : ' ';
    if (source_[pos_] == '0' && (letter == 'x' || letter == 'o' || letter == 'b')) {
      const int wanted = letter == 'x' ? 16 : letter == 'o' ? 8 : 2;
      auto is_digit_of_base = [wanted](char c) {
        const char low = static_cast<char>(c | 0x20);
        return (is_ascii_digit(c) && c - '0' < wanted) || (wanted == 16 && low >= 'a' && low <= 'f');
      };
      if (const size_t digits_end = digits(pos_ + 2, is_digit_of_base); digits_end > pos_ + 2) {
        base = wanted;
        end = digits_end;
      }
    }
    const std::string text = without_underscores(end);
    Token& token = push(TokenKind::kInteger, source_.substr(pos_, end - pos_));
    const char* first = text.data() + (base == 10 ? 0 : 2);
    if (std::from_chars(first, text.data() + text.size(), token.integer, base).ec != std::errc()) {
      return fail("the number {} does not fit into 64 bits.", text);
    }
    advance(end - pos_);
    return Status::ok();
  }

  std::string_view source_;
  std::deque<std::string>* pool_;
  std::vector<Token> tokens_;
  size_t pos_ = 0;
  int line_ = 1;
};

}  // namespace

std::string_view Token::describe() const {
  switch (kind) {
    case TokenKind::kData:
      return "template text";
    case TokenKind::kVariableBegin:
      return "begin of print statement";
    case TokenKind::kVariableEnd:
      return "end of print statement";
    case TokenKind::kBlockBegin:
      return "begin of statement block";
    case TokenKind::kBlockEnd:
      return "end of statement block";
    case TokenKind::kString:
      return "string";
    case TokenKind::kEnd:
      return "end of template";
    default:
      return text;
  }
}

Result<std::vector<Token>> tokenize(std::string_view source, std::deque<std::string>* pool) {
  return Lexer(source, pool).run();
}

std::string normalize_newlines(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      out.push_back('\n');
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      out.push_back(source[i]);
    }
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

}  // namespace nereid::chat
