// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve/json_reader.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace nereid::server::kserve {

constexpr int kMostDepth = 200;  // of arrays and objects

class JsonParser {
 public:
  JsonParser(std::string_view text, JsonDocument* out) : text_(text), out_(*out) {}

  Status parse() {
    skip_space();
    if (at_ == text_.size()) return wrong("The document is empty.");
    if (text_.size() >= std::numeric_limits<uint32_t>::max()) return wrong("The document is too long.");
    NEREID_RETURN_IF_ERROR(parse_value(0));
    skip_space();
    // A zero byte ends the text: raw tensors follow where a client has forgotten to say how long the JSON is.
    if (at_ != text_.size() && text_[at_] != '\0')
      return wrong("The document root must not be followed by other values.");
    return Status::ok();
  }

 private:
  Status wrong(std::string_view what) const {
    return internal("failed to parse the request JSON buffer: {} at {}", what, at_);
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  void add(JsonKind kind, uint64_t bits = 0) {
    out_.nodes_.push_back({kind, static_cast<uint32_t>(out_.nodes_.size() + 1), bits});
  }

  Status parse_value(int depth) {
    switch (peek()) {
      case '{':
        return depth < kMostDepth ? parse_object(depth) : wrong("The document nests too deep.");
      case '[':
        return depth < kMostDepth ? parse_array(depth) : wrong("The document nests too deep.");
      case '"':
        return parse_string();
      case 't':
        return parse_word("true", JsonKind::kTrue);
      case 'f':
        return parse_word("false", JsonKind::kFalse);
      case 'n':
        return parse_word("null", JsonKind::kNull);
      default:
        return parse_number();
    }
  }

  Status parse_word(std::string_view word, JsonKind kind) {
    if (!take(word)) return wrong("Invalid value.");
    add(kind);
    return Status::ok();
  }

  Status parse_object(int depth) {
    const size_t self = out_.nodes_.size();
    add(JsonKind::kObject);
    ++at_;
    skip_space();
    if (!take('}')) {
      for (;;) {
        if (peek() != '"') return wrong("Missing a name for object member.");
        NEREID_RETURN_IF_ERROR(parse_string());
        skip_space();
        if (!take(':')) return wrong("Missing a colon after a name of object member.");
        skip_space();
        NEREID_RETURN_IF_ERROR(parse_value(depth + 1));
        skip_space();
        if (take('}')) break;
        if (!take(',')) return wrong("Missing a comma or '}' after an object member.");
        skip_space();
      }
    }
    out_.nodes_[self].end = static_cast<uint32_t>(out_.nodes_.size());
    return Status::ok();
  }

  Status parse_array(int depth) {
    const size_t self = out_.nodes_.size();
    add(JsonKind::kArray);
    ++at_;
    skip_space();
    if (!take(']')) {
      for (;;) {
        NEREID_RETURN_IF_ERROR(parse_value(depth + 1));
        skip_space();
        if (take(']')) break;
        if (!take(',')) return wrong("Missing a comma or ']' after an array element.");
        skip_space();
      }
    }
    out_.nodes_[self].end = static_cast<uint32_t>(out_.nodes_.size());
    return Status::ok();
  }

  Status parse_string() {
    const size_t begin = out_.texts_.size();
    const size_t start = at_++;
    for (;;) {
      size_t plain = at_;
      while (plain < text_.size() && text_[plain] != '"' && text_[plain] != '\\' &&
             static_cast<unsigned char>(text_[plain]) >= 0x20)
        ++plain;
      out_.texts_.append(text_.substr(at_, plain - at_));
      at_ = plain;
      if (at_ >= text_.size()) {
        at_ = start;
        return wrong("Missing a closing quotation mark in string.");
      }
      if (take('"')) break;
      if (text_[at_] != '\\') return wrong("Invalid encoding in string.");
      NEREID_RETURN_IF_ERROR(parse_escape());
    }
    out_.nodes_.push_back({JsonKind::kString, static_cast<uint32_t>(out_.texts_.size() - begin), begin});
    return Status::ok();
  }

  Status parse_escape() {
    const char c = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
    if (const size_t i = kFrom.find(c); c != '\0' && i != kFrom.npos) {
      out_.texts_ += kTo[i];
      at_ += 2;
      return Status::ok();
    }
    if (c != 'u') return wrong("Invalid escape character in string.");
    uint32_t code = 0;
    if (!parse_hex(at_ + 2, &code)) return wrong("Incorrect hex digit after \\u escape in string.");
    if (code >= 0xdc00 && code <= 0xdfff) return wrong("The surrogate pair in string is invalid.");
    size_t length = 6;
    if (code >= 0xd800 && code <= 0xdbff) {
      uint32_t low = 0;
      if (!text_.substr(at_ + 6).starts_with("\\u") || !parse_hex(at_ + 8, &low) || low < 0xdc00 || low > 0xdfff)
        return wrong("The surrogate pair in string is invalid.");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      length = 12;
    }
    at_ += length;
    append_utf8(code);
    return Status::ok();
  }

  bool parse_hex(size_t at, uint32_t* code) const {
    if (at + 4 > text_.size()) return false;
    const char* begin = text_.data() + at;
    const auto [end, error] = std::from_chars(begin, begin + 4, *code, 16);
    return error == std::errc() && end == begin + 4;
  }

  void append_utf8(uint32_t code) {
    const auto put = [&](uint32_t byte) { out_.texts_ += static_cast<char>(byte); };
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xc0 | code >> 6), put(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
      put(0xe0 | code >> 12), put(0x80 | (code >> 6 & 0x3f)), put(0x80 | (code & 0x3f));
    } else {
      put(0xf0 | code >> 18), put(0x80 | (code >> 12 & 0x3f)), put(0x80 | (code >> 6 & 0x3f)),
          put(0x80 | (code & 0x3f));
    }
  }

  Status parse_number() {
    const size_t start = at_;
    const bool is_negative = take('-');
    if (take("NaN")) return add_double(std::nan(""));
    if (take("Infinity") || take("Inf"))
      return add_double(is_negative ? -std::numeric_limits<double>::infinity()
                                    : std::numeric_limits<double>::infinity());
    const size_t digits = at_;
    skip_digits();
    if (at_ == digits) {
      at_ = start;
      return wrong("Invalid value.");
    }
    if (text_[digits] == '0' && at_ > digits + 1) {
      at_ = digits + 1;  // 01 is two values without a comma
      return add_integer(start, is_negative);
    }
    bool is_integer = true;
    if (take('.')) {
      is_integer = false;
      const size_t fraction = at_;
      skip_digits();
      if (at_ == fraction) return wrong("Missing fraction part in number.");
    }
    if (peek() == 'e' || peek() == 'E') {
      is_integer = false;
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      const size_t exponent = at_;
      skip_digits();
      if (at_ == exponent) return wrong("Missing exponent in number.");
    }
    if (is_integer) return add_integer(start, is_negative);
    return add_float(start);
  }

  void skip_digits() {
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
  }

  Status add_integer(size_t start, bool is_negative) {
    const char *begin = text_.data() + start, *end = text_.data() + at_;
    if (is_negative) {
      int64_t value = 0;
      if (std::from_chars(begin, end, value).ec == std::errc() && value != 0) {
        add(JsonKind::kInt, static_cast<uint64_t>(value));
        return Status::ok();
      }
      if (value == 0 && end == begin + 2) return add_double(-0.0);
    } else {
      uint64_t value = 0;
      if (std::from_chars(begin, end, value).ec == std::errc()) {
        add(JsonKind::kUint, value);
        return Status::ok();
      }
    }
    return add_float(start);
  }

  Status add_float(size_t start) {
    double value = 0;
    const char *begin = text_.data() + start, *end = text_.data() + at_;
    const auto result = std::from_chars(begin, end, value);
    if (result.ec == std::errc::result_out_of_range) {
      // Too small is zero; too large is an error.
      const std::string_view text(begin, static_cast<size_t>(end - begin));
      if (text.find("e-") == text.npos && text.find("E-") == text.npos) {
        at_ = start;
        return wrong("Number too big to be stored in double.");
      }
      value = text[0] == '-' ? -0.0 : 0.0;
    }
    return add_double(value);
  }

  Status add_double(double value) {
    add(JsonKind::kDouble, std::bit_cast<uint64_t>(value));
    return Status::ok();
  }

  std::string_view text_;
  JsonDocument& out_;
  size_t at_ = 0;
};

Result<JsonDocument> JsonDocument::parse(std::string_view text) {
  JsonDocument document;
  NEREID_RETURN_IF_ERROR(JsonParser(text, &document).parse());
  return document;
}

std::string_view JsonValue::text() const {
  return std::string_view(document_->texts_).substr(node().bits, node().end);
}

std::optional<int64_t> JsonValue::as_int() const {
  const int64_t value = static_cast<int64_t>(node().bits);
  if (kind() == JsonKind::kInt || (kind() == JsonKind::kUint && value >= 0)) return value;
  return std::nullopt;
}

std::optional<uint64_t> JsonValue::as_uint() const {
  if (kind() == JsonKind::kUint) return node().bits;
  return std::nullopt;
}

double JsonValue::number() const {
  switch (kind()) {
    case JsonKind::kInt:
      return static_cast<double>(static_cast<int64_t>(node().bits));
    case JsonKind::kUint:
      return static_cast<double>(node().bits);
    default:
      return std::bit_cast<double>(node().bits);
  }
}

uint32_t JsonValue::behind() const {
  return is_array() || is_object() ? node().end : index_ + 1;
}

std::optional<JsonValue> JsonValue::first() const {
  if ((!is_array() && !is_object()) || node().end == index_ + 1) return std::nullopt;
  return JsonValue(document_, index_ + 1);
}

std::optional<JsonValue> JsonValue::next(const JsonValue& parent) const {
  const uint32_t at = parent.is_object() ? named().behind() : behind();
  if (at >= parent.node().end) return std::nullopt;
  return JsonValue(document_, at);
}

std::optional<JsonValue> JsonValue::find(std::string_view name) const {
  if (!is_object()) return std::nullopt;
  for (std::optional<JsonValue> one = first(); one; one = one->next(*this))
    if (one->text() == name) return one->named();
  return std::nullopt;
}

Status wrong_kind(std::string_view name, std::string_view found_not, std::string_view wanted) {
  return internal("Unable to parse '{}': attempt to access JSON {} as {}", name, found_not, wanted);
}

Status missing_member(std::string_view name) {
  return internal("Unable to parse '{}': attempt to access non-existing object member '{}'", name, name);
}

Status wrong_json(std::string_view found_not, std::string_view wanted) {
  return internal("attempt to access JSON {} as {}", found_not, wanted);
}

Result<std::string_view> member_text(const JsonValue& object, std::string_view name) {
  const std::optional<JsonValue> value = object.find(name);
  if (!value) return missing_member(name);
  if (!value->is_string()) return wrong_kind(name, "non-string", "string");
  return value->text();
}

Result<JsonValue> member_array(const JsonValue& object, std::string_view name) {
  const std::optional<JsonValue> value = object.find(name);
  if (!value) return missing_member(name);
  if (!value->is_array()) return wrong_kind(name, "non-array", "array");
  return *value;
}

Result<uint64_t> value_uint(std::string_view name, const JsonValue& value) {
  const std::optional<uint64_t> number = value.as_uint();
  if (!number) return wrong_kind(name, "non-unsigned-integer", "unsigned-integer");
  return *number;
}

}  // namespace nereid::server::kserve
