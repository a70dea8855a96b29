// SPDX-License-Identifier: Apache-2.0
// Filters that take and give text.
#include <algorithm>

#include "llm/chat/filters.h"
#include "llm/chat/format.h"
#include "llm/chat/input.h"
#include "llm/chat/interpreter.h"
#include "llm/chat/json_text.h"
#include "llm/chat/operators.h"
#include "llm/chat/text.h"
#include "llm/chat/text_edit.h"
#include "llm/chat/utf8.h"

namespace nereid::chat {
namespace {

// Text made from `self` keeps its mark.
Value like(Interpreter& in, const Value& self, std::string text) {
  return in.heap().text(std::move(text)).marked(self.is_markup());
}

void write_quoted_url(TextBuilder& out, std::string_view text, bool in_query) {
  for (char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                       c == '.' || c == '-' || c == '~' || (c == '/' && !in_query);
    if (plain) {
      out.add(c);
    } else if (c == ' ' && in_query) {
      out.add('+');
    } else {
      out.add(fmt::format("%{:02X}", static_cast<unsigned char>(c)));
    }
  }
}

}  // namespace

FilterResult filter_string(Interpreter& in, const Value& self, const Args&) {
  return to_str(in.heap(), self);
}

FilterResult filter_upper(Interpreter& in, const Value& self, const Args&) {
  return like(in, self, to_upper(to_str(in.heap(), self).as_text()));
}

FilterResult filter_lower(Interpreter& in, const Value& self, const Args&) {
  return like(in, self, to_lower(to_str(in.heap(), self).as_text()));
}

FilterResult filter_capitalize(Interpreter& in, const Value& self, const Args&) {
  return like(in, self, to_capitalized(to_str(in.heap(), self).as_text()));
}

// Unlike str.title(), words start only after white space and - ( { [ <.
FilterResult filter_title(Interpreter& in, const Value& self, const Args&) {
  const Value text = to_str(in.heap(), self);
  const std::string_view t = text.as_text();
  auto is_border = [](int32_t c) {
    return c >= 0 && (is_space(c) || c == '-' || c == '(' || c == '{' || c == '[' || c == '<');
  };
  std::string out;
  for (size_t i = 0; i < t.size();) {
    const bool border = is_border(code_point_at(t, i).value);
    size_t end = i;
    while (end < t.size() && is_border(code_point_at(t, end).value) == border) end += code_point_at(t, end).bytes;
    const std::string_view piece = t.substr(i, end - i);
    const size_t first = code_point_at(piece, 0).bytes;
    out += to_upper(piece.substr(0, first)) + to_lower(piece.substr(first));
    i = end;
  }
  return like(in, self, std::move(out));
}

FilterResult filter_trim(Interpreter& in, const Value& self, const Args& args) {
  const Value text = to_str(in.heap(), self);
  if (!args.is_set(0)) return Value::text(strip(text.as_text(), Side::kBoth)).marked(self.is_markup());
  NEREID_TRY(const std::string_view characters, args.text(0, {}));
  if (!in.heap().work(text.as_text().size() * characters.size() / 32)) return in.heap().status();
  return Value::text(strip(text.as_text(), Side::kBoth, &characters)).marked(self.is_markup());
}

FilterResult filter_replace(Interpreter& in, const Value& self, const Args& args) {
  Heap& heap = in.heap();
  const int64_t all = -1;
  int64_t count = all;
  if (args.is_set(2)) {
    NEREID_TRY(count, args.integer(2, all));
  }
  TextBuilder out(heap);
  write_replaced(out, to_str(heap, self).as_text(), to_str(heap, args[0]).as_text(), to_str(heap, args[1]).as_text(),
                 count);
  return out.finish();
}

FilterResult filter_indent(Interpreter& in, const Value& self, const Args& args) {
  if (self.is_undefined()) return undefined_error(self);
  if (!self.is_string()) return invalid_argument("indent: expected a str, found '{}'.", type_name(self));
  std::string_view by;
  std::string blanks;
  if (args.has(0) && args[0].is_string()) {
    by = args[0].as_text();
  } else {
    NEREID_TRY(const int64_t width, args.integer(0, 4));
    if (width > 100'000) return invalid_argument("indent: a width of {} is too large.", width);
    blanks.assign(static_cast<size_t>(std::max<int64_t>(0, width)), ' ');
    by = blanks;
  }
  const bool indents_blank = args.flag(2, false);
  // A newline at the end opens one more, empty, line.
  std::vector<std::string_view> lines = split_lines(self.as_text());
  const std::string_view text = self.as_text();
  if (text.empty() || split_lines(text.substr(text.size() - code_point_before(text, text.size()).bytes))[0].empty()) {
    lines.push_back({});
  }
  TextBuilder out(in.heap());
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out.add('\n');
    const bool indents = i == 0 ? args.flag(1, false) : indents_blank || !lines[i].empty();
    if (indents) out.add(by);
    out.add(lines[i]);
  }
  return out.finish().marked(self.is_markup());
}

FilterResult filter_center(Interpreter& in, const Value& self, const Args& args) {
  NEREID_TRY(const int64_t width, args.integer(0, 80));
  return pad_text(in.heap(), to_str(in.heap(), self), width, " ", 2);
}

FilterResult filter_truncate(Interpreter& in, const Value& self, const Args& args) {
  NEREID_TRY(const int64_t length, args.integer(0, 255));
  NEREID_TRY(const std::string_view end, args.text(2, "..."));
  const int64_t own_leeway = 5;
  int64_t leeway = own_leeway;
  if (args.is_set(3)) {
    NEREID_TRY(leeway, args.integer(3, own_leeway));
  }
  const auto tail = static_cast<int64_t>(count_code_points(end));
  if (length < tail || leeway < 0)
    return invalid_argument("truncate: expected a length of at least {} and no negative leeway.", tail);
  NEREID_TRY(const int64_t size, length_of(in.heap(), self));
  if (size - length <= leeway) return self;
  if (!self.is_string()) return invalid_argument("truncate: expected a str, found '{}'.", type_name(self));
  const std::string_view text = self.as_text();
  std::string_view kept = text.substr(0, offset_of(text, static_cast<size_t>(length - tail)));
  if (!args.flag(1, false)) kept = kept.substr(0, kept.rfind(' '));
  return TextBuilder(in.heap()).add(kept).add(end).finish();
}

FilterResult filter_safe(Interpreter& in, const Value& self, const Args&) {
  return to_str(in.heap(), self).marked();
}

FilterResult filter_escape(Interpreter& in, const Value& self, const Args&) {
  TextBuilder out(in.heap());
  add_part(out, self);
  return out.finish().marked();
}

FilterResult filter_forceescape(Interpreter& in, const Value& self, const Args&) {
  TextBuilder out(in.heap());
  write_escaped(out, to_str(in.heap(), self).as_text());
  return out.finish().marked();
}

FilterResult filter_wordcount(Interpreter& in, const Value& self, const Args&) {
  const Value text = to_str(in.heap(), self);
  int64_t count = 0;
  bool in_word = false;
  for (size_t i = 0; i < text.as_text().size();) {
    const CodePoint c = code_point_at(text.as_text(), i);
    const bool word = is_word(c.value);
    count += word && !in_word ? 1 : 0;
    in_word = word;
    i += c.bytes;
  }
  return Value::integer(count);
}

FilterResult filter_urlencode(Interpreter& in, const Value& self, const Args&) {
  TextBuilder out(in.heap());
  if (self.is_string() || !is_iterable(self)) {
    write_quoted_url(out, to_str(in.heap(), self).as_text(), false);
    return out.finish();
  }
  std::vector<Value> pairs;
  if (self.is_dict()) {
    for (const Dict::Entry& e : self.as_dict().entries) pairs.push_back(in.heap().tuple({e.key, e.value}));
  } else {
    NEREID_TRY(pairs, all_items(in.heap(), self));
  }
  for (size_t i = 0; i < pairs.size(); ++i) {
    NEREID_TRY(std::vector<Value> pair, all_items(in.heap(), pairs[i]));
    if (pair.size() != 2) return invalid_argument("urlencode: expected pairs, found {} value(s).", pair.size());
    if (i > 0) out.add('&');
    write_quoted_url(out, to_str(in.heap(), pair[0]).as_text(), true);
    out.add('=');
    write_quoted_url(out, to_str(in.heap(), pair[1]).as_text(), true);
  }
  return out.finish();
}

FilterResult filter_format(Interpreter& in, const Value& self, const Args& args) {
  Heap& heap = in.heap();
  if (!args.rest.empty() && !args.named.empty()) {
    return invalid_argument("format: cannot handle positional and keyword arguments at the same time.");
  }
  Value values = heap.tuple(args.rest);
  if (!args.named.empty()) {
    values = heap.dict();
    for (const NamedValue& n : args.named) values.as_dict().set(Value::text(n.name), n.value);
  }
  return format_percent(heap, to_str(heap, self), values);
}

FilterResult filter_tojson(Interpreter& in, const Value& self, const Args& args) {
  JsonStyle style;
  style.ensure_ascii = args.flag(0, false);
  style.sort_keys = args.flag(3, false);
  std::string blanks;
  if (args.is_set(1)) {
    style.is_indented = true;
    style.item_separator = ",";
    if (args[1].is_string()) {
      style.indent = args[1].as_text();
    } else {
      NEREID_TRY(const int64_t width, args.integer(1, 0));
      if (width > 1000) return invalid_argument("tojson: an indent of {} is too large.", width);
      blanks.assign(static_cast<size_t>(std::max<int64_t>(0, width)), ' ');
      style.indent = blanks;
    }
  }
  if (args.is_set(2)) {
    NEREID_TRY(std::vector<Value> separators, all_items(in.heap(), args[2]));
    if (separators.size() != 2 || !separators[0].is_string() || !separators[1].is_string()) {
      return invalid_argument("tojson: separators must be two str.");
    }
    style.item_separator = separators[0].as_text();
    style.key_separator = separators[1].as_text();
  }
  TextBuilder out(in.heap());
  NEREID_RETURN_IF_ERROR(write_json(out, self, style));
  return out.finish();
}

FilterResult filter_from_json(Interpreter& in, const Value& self, const Args&) {
  if (!self.is_string()) return invalid_argument("from_json: expected a str, found '{}'.", type_name(self));
  if (!in.heap().take(32 * self.as_text().size())) return in.heap().status();
  auto json = parse_ordered_json(self.as_text());
  if (!json) return json.status().with("from_json");
  return copy_json(in.heap(), *json);
}

}  // namespace nereid::chat
