// SPDX-License-Identifier: Apache-2.0
// str() and repr() of every kind of value.
#include "llm/chat/text.h"

#include <charconv>
#include <cmath>

#include "base/status.h"
#include "llm/chat/function.h"
#include "llm/chat/utf8.h"

namespace nereid::chat {
namespace {

void write_escape(TextBuilder& out, int32_t c) {
  if (c < 0x100) {
    out.add(fmt::format("\\x{:02x}", c));
  } else if (c < 0x10000) {
    out.add(fmt::format("\\u{:04x}", c));
  } else {
    out.add(fmt::format("\\U{:08x}", c));
  }
}

// Single quotes, unless only the text has some and no double ones.
void write_quoted(TextBuilder& out, std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const bool has_double = text.find('"') != std::string_view::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  out.add(quote);
  for (size_t i = 0; i < text.size() && !out.heap().is_spent();) {
    const CodePoint c = code_point_at(text, i);
    if (c.value == quote || c.value == '\\') {
      out.add('\\').add(static_cast<char>(c.value));
    } else if (c.value == '\n') {
      out.add("\\n");
    } else if (c.value == '\r') {
      out.add("\\r");
    } else if (c.value == '\t') {
      out.add("\\t");
    } else if (c.value < 0) {
      write_escape(out, static_cast<unsigned char>(text[i]));
    } else if (is_printable(c.value)) {
      out.add(text.substr(i, c.bytes));
    } else {
      write_escape(out, c.value);
    }
    i += c.bytes;
  }
  out.add(quote);
}

void write_repr_at(TextBuilder& out, const Value& value, int depth);

void write_items(TextBuilder& out, const std::vector<Value>& items, int depth) {
  for (size_t i = 0; i < items.size() && !out.heap().is_spent(); ++i) {
    if (i > 0) out.add(", ");
    write_repr_at(out, items[i], depth + 1);
  }
}

void write_dict(TextBuilder& out, const Dict& dict, int depth) {
  out.add('{');
  for (size_t i = 0; i < dict.entries.size() && !out.heap().is_spent(); ++i) {
    if (i > 0) out.add(", ");
    write_repr_at(out, dict.entries[i].key, depth + 1);
    out.add(": ");
    write_repr_at(out, dict.entries[i].value, depth + 1);
  }
  out.add('}');
}

void write_repr_at(TextBuilder& out, const Value& value, int depth) {
  if (depth > kMaxDepth) {  // a list inside itself
    out.add("...");
    return;
  }
  if (!out.heap().work(1)) return;
  switch (value.kind()) {
    case Kind::kMissing:
      return;
    case Kind::kUndefined:
      if (depth > 0) out.add("Undefined");
      return;
    case Kind::kNone:
      out.add("None");
      return;
    case Kind::kBool:
      out.add(value.as_bool() ? "True" : "False");
      return;
    case Kind::kInt:
      out.add(fmt::format("{}", value.as_int()));
      return;
    case Kind::kFloat:
      out.add(float_text(value.as_double()));
      return;
    case Kind::kString:
      if (value.is_markup()) out.add("Markup(");
      write_quoted(out, value.as_text());
      if (value.is_markup()) out.add(')');
      return;
    case Kind::kList:
      out.add('[');
      write_items(out, value.as_sequence().items, depth);
      out.add(']');
      return;
    case Kind::kTuple:
      out.add('(');
      write_items(out, value.as_sequence().items, depth);
      out.add(value.as_sequence().items.size() == 1 ? ",)" : ")");
      return;
    case Kind::kRange:
      out.add(value.as_sequence().label);
      return;
    case Kind::kView:
      out.add(value.as_sequence().label).add("([");
      write_items(out, value.as_sequence().items, depth);
      out.add("])");
      return;
    case Kind::kDict:
      write_dict(out, value.as_dict(), depth);
      return;
    case Kind::kNamespace:
      out.add("<Namespace ");
      write_dict(out, value.as_dict(), depth);
      out.add('>');
      return;
    default:  // Python would print an address
      out.add('<').add(type_name(value)).add(" object>");
  }
}

}  // namespace

void write_str(TextBuilder& out, const Value& value) {
  if (value.is_string()) {
    out.add(value.as_text());
  } else {
    write_repr_at(out, value, 0);
  }
}

void write_repr(TextBuilder& out, const Value& value) {
  value.is_undefined() ? static_cast<void>(out.add("Undefined")) : write_repr_at(out, value, 0);
}

Value to_str(Heap& heap, const Value& value) {
  if (value.is_string()) return value;
  TextBuilder out(heap);
  write_str(out, value);
  return out.finish();
}

std::string float_text(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, std::abs(v), std::chars_format::scientific).ptr;
  std::string_view text(buffer, static_cast<size_t>(end - buffer));
  const size_t e = text.find('e');
  std::string digits(1, text[0]);
  if (e > 1) digits += text.substr(2, e - 2);
  int exponent = 0;
  const char* first = text.data() + e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(first, end, exponent);
  std::string out = std::signbit(v) ? "-" : "";
  if (exponent < -4 || exponent >= 16) {
    out += digits[0];
    if (digits.size() > 1) out.append(1, '.').append(digits, 1);
    return out.append(fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent)));
  }
  if (exponent < 0) return out.append("0.").append(static_cast<size_t>(-exponent - 1), '0').append(digits);
  const auto whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) return out.append(digits).append(whole - digits.size(), '0').append(".0");
  return out.append(digits, 0, whole).append(1, '.').append(digits, whole);
}

void write_escaped(TextBuilder& out, std::string_view text) {
  for (char c : text) {
    switch (c) {
      case '&':
        out.add("&amp;");
        break;
      case '<':
        out.add("&lt;");
        break;
      case '>':
        out.add("&gt;");
        break;
      case '\'':
        out.add("&#39;");
        break;
      case '"':
        out.add("&#34;");
        break;
      default:
        out.add(c);
    }
  }
}

void add_part(TextBuilder& out, const Value& part) {
  if (part.is_markup()) {
    out.add(part.as_text());
  } else if (part.is_string()) {
    write_escaped(out, part.as_text());
  } else {
    write_escaped(out, to_str(out.heap(), part).as_text());
  }
}

}  // namespace nereid::chat
