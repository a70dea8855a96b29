// SPDX-License-Identifier: Apache-2.0
// Attribute values to text and back, driven by the declared kind.
#include "ops/attr_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace nereid::ops {
namespace {

std::string_view trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\n' || s.front() == '\t' || s.front() == '\r'))
    s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\n' || s.back() == '\t' || s.back() == '\r'))
    s.remove_suffix(1);
  return s;
}

template <typename T>
std::string real_text(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string s = fmt::format("{}", value);
  if (s.find_first_of(".e") == std::string::npos) s += ".0";
  return s;
}

// A word that needs no quotes: it cannot be taken for a number, a list or punctuation.
bool is_plain_word(std::string_view s) {
  if (s.empty() || !(std::isalpha(static_cast<unsigned char>(s[0])) || s[0] == '_')) return false;
  for (char c : s)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '.' && c != '-') return false;
  return true;
}

template <typename T>
Result<T> number(std::string_view text, std::string_view kind) {
  T value{};
  auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc() || end != text.data() + text.size()) return invalid_argument("'{}' is no {}", text, kind);
  return value;
}

Result<std::string> word(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') return unquote(text.substr(1, text.size() - 2));
  if (!is_plain_word(text))
    return invalid_argument("'{}' is not a word; a text with other characters needs quotes", text);
  return std::string(text);
}

// Elements of "[a, b]", split at commas outside quotes.
Result<std::vector<std::string_view>> elements(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']')
    return invalid_argument("'{}' is not a list in brackets", text);
  std::string_view body = trim(text.substr(1, text.size() - 2));
  std::vector<std::string_view> out;
  if (body.empty()) return out;
  bool quoted = false;
  size_t start = 0;
  for (size_t i = 0; i < body.size(); ++i) {
    if (quoted && body[i] == '\\') {
      ++i;
    } else if (body[i] == '"') {
      quoted = !quoted;
    } else if (body[i] == ',' && !quoted) {
      out.push_back(trim(body.substr(start, i - start)));
      start = i + 1;
    }
  }
  out.push_back(trim(body.substr(start)));
  return out;
}

template <typename T, typename F>
Result<AttrValue> list(std::string_view text, F&& element) {
  NEREID_TRY(auto parts, elements(text));
  std::vector<T> out;
  out.reserve(parts.size());
  for (std::string_view p : parts) {
    NEREID_TRY(T value, element(p));
    out.push_back(std::move(value));
  }
  return AttrValue(std::move(out));
}

template <typename T, typename F>
std::string join(const std::vector<T>& values, F&& text) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) out += (i ? ", " : "") + text(values[i]);
  return out + "]";
}

std::string word_text(const std::string& s) {
  return is_plain_word(s) ? s : quote(s);
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string_view attr_kind_name(AttrSpec::Kind kind) {
  static constexpr std::string_view kNames[] = {"a truth value",      "an integer",        "a number",       "a text",
                                                "a list of integers", "a list of numbers", "a list of texts"};
  return kNames[static_cast<size_t>(kind)];
}

AttrSpec::Kind attr_kind(const AttrValue& value) {
  return static_cast<AttrSpec::Kind>(value.index());
}

std::string real_to_text(double value) {
  return real_text(value);
}
std::string real_to_text(float value) {
  return real_text(value);
}

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

Result<std::string> unquote(std::string_view quoted) {
  std::string out;
  out.reserve(quoted.size());
  for (size_t i = 0; i < quoted.size(); ++i) {
    if (quoted[i] == '"') return invalid_argument("a quote inside a quoted text needs a backslash before it");
    if (quoted[i] != '\\') {
      out += quoted[i];
      continue;
    }
    char c = ++i < quoted.size() ? quoted[i] : '\0';
    if (c == 'n') {
      out += '\n';
    } else if (c == 't') {
      out += '\t';
    } else if (c == 'r') {
      out += '\r';
    } else if (c == '"' || c == '\\') {
      out += c;
    } else if (c == 'x' && i + 2 < quoted.size() && hex_digit(quoted[i + 1]) >= 0 && hex_digit(quoted[i + 2]) >= 0) {
      out += static_cast<char>(hex_digit(quoted[i + 1]) * 16 + hex_digit(quoted[i + 2]));
      i += 2;
    } else {
      return invalid_argument("the escape at character {} of a quoted text is none of \\n \\t \\r \\\" \\\\ \\xNN", i);
    }
  }
  return out;
}

std::string attr_to_text(const AttrValue& value) {
  switch (attr_kind(value)) {
    case AttrSpec::Kind::kBool:
      return std::get<bool>(value) ? "true" : "false";
    case AttrSpec::Kind::kInt:
      return std::to_string(std::get<int64_t>(value));
    case AttrSpec::Kind::kFloat:
      return real_text(std::get<double>(value));
    case AttrSpec::Kind::kString:
      return word_text(std::get<std::string>(value));
    case AttrSpec::Kind::kInts:
      return join(std::get<std::vector<int64_t>>(value), [](int64_t v) { return std::to_string(v); });
    case AttrSpec::Kind::kFloats:
      return join(std::get<std::vector<double>>(value), real_text<double>);
    case AttrSpec::Kind::kStrings:
      return join(std::get<std::vector<std::string>>(value), word_text);
  }
  return {};
}

Result<AttrValue> attr_from_text(AttrSpec::Kind kind, std::string_view text) {
  text = trim(text);
  auto integer = [](std::string_view t) { return number<int64_t>(t, "integer"); };
  auto real = [](std::string_view t) { return number<double>(t, "number"); };
  switch (kind) {
    case AttrSpec::Kind::kBool:
      if (text == "true") return AttrValue(true);
      if (text == "false") return AttrValue(false);
      return invalid_argument("'{}' is neither true nor false", text);
    case AttrSpec::Kind::kInt: {
      NEREID_TRY(int64_t v, integer(text));
      return AttrValue(v);
    }
    case AttrSpec::Kind::kFloat: {
      NEREID_TRY(double v, real(text));
      return AttrValue(v);
    }
    case AttrSpec::Kind::kString: {
      NEREID_TRY(std::string v, word(text));
      return AttrValue(std::move(v));
    }
    case AttrSpec::Kind::kInts:
      return list<int64_t>(text, integer);
    case AttrSpec::Kind::kFloats:
      return list<double>(text, real);
    case AttrSpec::Kind::kStrings:
      return list<std::string>(text, word);
  }
  return internal("attribute kind {} does not exist", static_cast<int>(kind));
}

Status complete_attrs(const OpDef& op, Attrs& attrs) {
  for (const auto& [name, value] : attrs.values()) {
    const AttrSpec* spec = nullptr;
    for (const AttrSpec& s : op.attrs)
      if (s.name == name) spec = &s;
    if (spec == nullptr) return invalid_argument("{} has no attribute '{}'", op.name, name);
    AttrSpec::Kind kind = attr_kind(value);
    bool widens = (spec->kind == AttrSpec::Kind::kFloat && kind == AttrSpec::Kind::kInt) ||
                  (spec->kind == AttrSpec::Kind::kFloats && kind == AttrSpec::Kind::kInts);
    if (kind != spec->kind && !widens)
      return invalid_argument("attribute '{}' of {} should be {}, but is {}: {}", name, op.name,
                              attr_kind_name(spec->kind), attr_kind_name(kind), attr_to_text(value));
  }
  for (const AttrSpec& spec : op.attrs) {
    const AttrValue* value = attrs.find(spec.name);
    if (value == nullptr) {
      if (spec.fallback.empty())
        return invalid_argument("attribute '{}' of {} is required and missing", spec.name, op.name);
      NEREID_TRY(AttrValue fallback, attr_from_text(spec.kind, spec.fallback).with(spec.name));
      attrs.set(std::string(spec.name), std::move(fallback));
    } else if (spec.kind == AttrSpec::Kind::kFloat && std::holds_alternative<int64_t>(*value)) {
      attrs.set(std::string(spec.name), static_cast<double>(std::get<int64_t>(*value)));
    } else if (spec.kind == AttrSpec::Kind::kFloats && std::holds_alternative<std::vector<int64_t>>(*value)) {
      const auto& ints = std::get<std::vector<int64_t>>(*value);
      attrs.set(std::string(spec.name), std::vector<double>(ints.begin(), ints.end()));
    }
  }
  return Status::ok();
}

}  // namespace nereid::ops
