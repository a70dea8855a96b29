// SPDX-License-Identifier: Apache-2.0
// Methods of text. What they cut out is a view of the text itself, marked as the text is.
#include <algorithm>

#include "llm/chat/format.h"
#include "llm/chat/interpreter.h"
#include "llm/chat/methods.h"
#include "llm/chat/operators.h"
#include "llm/chat/text.h"
#include "llm/chat/text_edit.h"
#include "llm/chat/utf8.h"

namespace nereid::chat {
namespace {

using MethodResult = Result<Value>;

Value view(const Value& self, std::string_view text) {
  return Value::text(text).marked(self.is_markup());
}

template <std::string (*change)(std::string_view)>
MethodResult changed(Interpreter& in, const Value& self, const Args&) {
  return in.heap().text(change(self.as_text())).marked(self.is_markup());
}

template <Side side>
MethodResult stripped(Interpreter& in, const Value& self, const Args& args) {
  if (!args.is_set(0)) return view(self, strip(self.as_text(), side));
  NEREID_TRY(const std::string_view characters, args.text(0, {}));
  if (!in.heap().work(self.as_text().size() * characters.size() / 32)) return in.heap().status();
  return view(self, strip(self.as_text(), side, &characters));
}

// The part of the text that start and end (arguments i and i + 1, in characters) select, and its byte offset.
struct Part {
  std::string_view text;
  size_t offset;
};
Result<Part> part_of(std::string_view text, const Args& args, size_t i) {
  if (!args.is_set(i) && !args.is_set(i + 1)) return Part{text, 0};
  const auto size = static_cast<int64_t>(count_code_points(text));
  int64_t ends[2] = {0, size};
  for (size_t k = 0; k < 2; ++k) {
    if (!args.is_set(i + k)) continue;
    NEREID_TRY(const int64_t given, args.integer(i + k, 0));
    ends[k] = std::clamp<int64_t>(given < 0 ? given + size : given, 0, size);
  }
  const size_t from = offset_of(text, static_cast<size_t>(ends[0]));
  const size_t to = offset_of(text, static_cast<size_t>(std::max(ends[0], ends[1])));
  return Part{text.substr(from, to - from), from};
}

// The text or the tuple of texts that startswith and endswith take.
template <bool (*matches)(std::string_view, std::string_view)>
MethodResult affix(Interpreter&, const Value& self, const Args& args) {
  NEREID_TRY(const Part part, part_of(self.as_text(), args, 1));
  if (!args[0].is(Kind::kTuple)) {
    NEREID_TRY(const std::string_view wanted, args.text(0, {}));
    return Value::boolean(matches(part.text, wanted));
  }
  for (const Value& v : args[0].as_sequence().items) {
    if (!v.is_string()) return invalid_argument("expected a tuple of str, found '{}' in it.", type_name(v));
    if (matches(part.text, v.as_text())) return Value::boolean(true);
  }
  return Value::boolean(false);
}

bool starts(std::string_view text, std::string_view with) {
  return text.starts_with(with);
}
bool ends(std::string_view text, std::string_view with) {
  return text.ends_with(with);
}

template <bool last, bool must_exist>
MethodResult found(Interpreter&, const Value& self, const Args& args) {
  NEREID_TRY(const std::string_view wanted, args.text(0, {}));
  NEREID_TRY(const Part part, part_of(self.as_text(), args, 1));
  const size_t at = last ? part.text.rfind(wanted) : part.text.find(wanted);
  if (at != std::string_view::npos) {
    return Value::integer(static_cast<int64_t>(count_code_points(self.as_text().substr(0, part.offset + at))));
  }
  if (must_exist) return invalid_argument("substring not found.");
  return Value::integer(-1);
}

MethodResult count_text(Interpreter&, const Value& self, const Args& args) {
  NEREID_TRY(const std::string_view wanted, args.text(0, {}));
  NEREID_TRY(const Part part, part_of(self.as_text(), args, 1));
  if (wanted.empty()) return Value::integer(static_cast<int64_t>(count_code_points(part.text)) + 1);
  int64_t n = 0;
  for (size_t at = part.text.find(wanted); at != std::string_view::npos;
       at = part.text.find(wanted, at + wanted.size()))
    ++n;
  return Value::integer(n);
}

MethodResult replace(Interpreter& in, const Value& self, const Args& args) {
  NEREID_TRY(const std::string_view old, args.text(0, {}));
  NEREID_TRY(const std::string_view replacement, args.text(1, {}));
  NEREID_TRY(const int64_t times, args.integer(2, -1));
  TextBuilder out(in.heap());
  if (self.is_markup() && !args[1].is_markup()) {
    TextBuilder escaped(in.heap());
    write_escaped(escaped, replacement);
    write_replaced(out, self.as_text(), old, escaped.str(), times);
  } else {
    write_replaced(out, self.as_text(), old, replacement, times);
  }
  return out.finish().marked(self.is_markup());
}

using Pieces = std::vector<std::string_view>;

// Without separator: runs of white space part, and none stand at the ends.
Pieces split_words(std::string_view text, size_t limit, bool from_right) {
  Pieces out;
  const Side outer = from_right ? Side::kRight : Side::kLeft;
  for (text = strip(text, outer); !text.empty(); text = strip(text, outer)) {
    if (out.size() == limit) {
      out.push_back(text);  // what is left keeps the white space of its far end
      break;
    }
    size_t word = 0;  // bytes of the word at the end in question
    while (word < text.size()) {
      const CodePoint c = from_right ? code_point_before(text, text.size() - word) : code_point_at(text, word);
      if (c.value >= 0 && is_space(c.value)) break;
      word += c.bytes;
    }
    out.push_back(from_right ? text.substr(text.size() - word) : text.substr(0, word));
    from_right ? text.remove_suffix(word) : text.remove_prefix(word);
  }
  return out;
}

Pieces split_at(std::string_view text, std::string_view separator, size_t limit, bool from_right) {
  Pieces out;
  while (out.size() < limit) {
    const size_t at = from_right ? text.rfind(separator) : text.find(separator);
    if (at == std::string_view::npos) break;
    const size_t after = at + separator.size();
    out.push_back(from_right ? text.substr(after) : text.substr(0, at));
    text = from_right ? text.substr(0, at) : text.substr(after);
  }
  out.push_back(text);
  return out;
}

template <bool from_right>
MethodResult split(Interpreter& in, const Value& self, const Args& args) {
  NEREID_TRY(const int64_t limit, args.integer(1, -1));
  const size_t most = limit < 0 ? ~size_t{0} : static_cast<size_t>(limit);
  Pieces pieces;
  if (args.is_set(0)) {
    NEREID_TRY(const std::string_view separator, args.text(0, {}));
    if (separator.empty()) return invalid_argument("empty separator.");
    pieces = split_at(self.as_text(), separator, most, from_right);
  } else {
    pieces = split_words(self.as_text(), most, from_right);
  }
  if (from_right) std::reverse(pieces.begin(), pieces.end());
  std::vector<Value> out;
  out.reserve(pieces.size());
  for (std::string_view piece : pieces) out.push_back(view(self, piece));
  return in.heap().list(std::move(out));
}

template <bool from_right>
MethodResult partition(Interpreter& in, const Value& self, const Args& args) {
  NEREID_TRY(const std::string_view separator, args.text(0, {}));
  if (separator.empty()) return invalid_argument("empty separator.");
  const std::string_view text = self.as_text();
  const size_t at = from_right ? text.rfind(separator) : text.find(separator);
  const Value nothing = view(self, {});
  if (at == std::string_view::npos) {
    return from_right ? in.heap().tuple({nothing, nothing, self}) : in.heap().tuple({self, nothing, nothing});
  }
  return in.heap().tuple({view(self, text.substr(0, at)), view(self, text.substr(at, separator.size())),
                          view(self, text.substr(at + separator.size()))});
}

MethodResult splitlines(Interpreter& in, const Value& self, const Args& args) {
  std::vector<Value> out;
  for (std::string_view line : split_lines(self.as_text(), args.flag(0, false))) out.push_back(view(self, line));
  return in.heap().list(std::move(out));
}

MethodResult join(Interpreter& in, const Value& self, const Args& args) {
  NEREID_TRY(Iterator it, Iterator::over(args[0]));
  TextBuilder out(in.heap());
  Value item;
  for (bool first = true; it.next(&item) && !in.heap().is_spent(); first = false) {
    if (!item.is_string()) return invalid_argument("sequence item: expected str instance, {} found.", type_name(item));
    in.heap().work(1);
    if (!first) out.add(self.as_text());
    self.is_markup() ? add_part(out, item) : static_cast<void>(out.add(item.as_text()));
  }
  return out.finish().marked(self.is_markup());
}

template <int share>
MethodResult padded(Interpreter& in, const Value& self, const Args& args) {
  NEREID_TRY(const int64_t width, args.integer(0, 0));
  NEREID_TRY(const std::string_view fill, args.text(1, " "));
  if (count_code_points(fill) != 1) return invalid_argument("The fill character must be exactly one character long.");
  return pad_text(in.heap(), self, width, fill, share);
}

MethodResult zfill(Interpreter& in, const Value& self, const Args& args) {
  NEREID_TRY(const int64_t width, args.integer(0, 0));
  const std::string_view text = self.as_text();
  const size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const auto length = static_cast<int64_t>(count_code_points(text));
  TextBuilder out(in.heap());
  out.add(text.substr(0, sign))
      .repeat("0", static_cast<size_t>(std::max<int64_t>(0, width - length)))
      .add(text.substr(sign));
  return out.finish();
}

MethodResult removeprefix(Interpreter&, const Value& self, const Args& args) {
  NEREID_TRY(const std::string_view prefix, args.text(0, {}));
  return view(self, self.as_text().substr(self.as_text().starts_with(prefix) ? prefix.size() : 0));
}

MethodResult removesuffix(Interpreter&, const Value& self, const Args& args) {
  NEREID_TRY(const std::string_view suffix, args.text(0, {}));
  const std::string_view text = self.as_text();
  return view(self, text.substr(0, text.size() - (text.ends_with(suffix) ? suffix.size() : 0)));
}

std::string swap_case(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = code_point_at(text, i);
    const std::string_view bytes = text.substr(i, c.bytes);
    out += is_upper(c.value) ? to_lower(bytes) : to_upper(bytes);
    i += c.bytes;
  }
  return out;
}

MethodResult format(Interpreter& in, const Value& self, const Args& args) {
  return format_braces(in, self.as_text(), args);
}

// Every character has the property, and there is one.
template <bool (*property)(int32_t)>
MethodResult all_are(Interpreter&, const Value& self, const Args&) {
  const std::string_view text = self.as_text();
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = code_point_at(text, i);
    if (c.value < 0 || !property(c.value)) return Value::boolean(false);
    i += c.bytes;
  }
  return Value::boolean(!text.empty());
}

// There are letters of the case and none of the other.
template <bool (*wanted)(int32_t), bool (*other)(int32_t)>
MethodResult has_case(Interpreter&, const Value& self, const Args&) {
  bool any = false;
  for (size_t i = 0; i < self.as_text().size();) {
    const CodePoint c = code_point_at(self.as_text(), i);
    if (other(c.value)) return Value::boolean(false);
    any = any || wanted(c.value);
    i += c.bytes;
  }
  return Value::boolean(any);
}

constexpr FunctionRow kStringMethods[] = {
    {"capitalize", {}, 0, false, changed<to_capitalized>},
    {"casefold", {}, 0, false, changed<to_lower>},
    {"center", {"width", "fillchar"}, 1, false, padded<2>},
    {"count", {"sub", "start", "end"}, 1, false, count_text},
    {"endswith", {"suffix", "start", "end"}, 1, false, affix<ends>},
    {"find", {"sub", "start", "end"}, 1, false, found<false, false>},
    {"format", {}, 0, true, format},
    {"index", {"sub", "start", "end"}, 1, false, found<false, true>},
    {"isalnum", {}, 0, false, all_are<[](int32_t c) { return c != '_' && is_word(c); }>},
    {"isalpha", {}, 0, false, all_are<is_alphabetic>},
    {"isascii",
     {},
     0,
     false,
     [](Interpreter&, const Value& self, const Args&) -> MethodResult {
       return Value::boolean(is_ascii(self.as_text()));
     }},
    {"isdecimal", {}, 0, false, all_are<is_digit>},
    {"isdigit", {}, 0, false, all_are<is_digit>},
    {"islower", {}, 0, false, has_case<is_lower, is_upper>},
    {"isnumeric", {}, 0, false, all_are<is_digit>},
    {"isspace", {}, 0, false, all_are<is_space>},
    {"isupper", {}, 0, false, has_case<is_upper, is_lower>},
    {"join", {"iterable"}, 1, false, join},
    {"ljust", {"width", "fillchar"}, 1, false, padded<0>},
    {"lower", {}, 0, false, changed<to_lower>},
    {"lstrip", {"chars"}, 0, false, stripped<Side::kLeft>},
    {"partition", {"sep"}, 1, false, partition<false>},
    {"removeprefix", {"prefix"}, 1, false, removeprefix},
    {"removesuffix", {"suffix"}, 1, false, removesuffix},
    {"replace", {"old", "new", "count"}, 2, false, replace},
    {"rfind", {"sub", "start", "end"}, 1, false, found<true, false>},
    {"rindex", {"sub", "start", "end"}, 1, false, found<true, true>},
    {"rjust", {"width", "fillchar"}, 1, false, padded<1>},
    {"rpartition", {"sep"}, 1, false, partition<true>},
    {"rsplit", {"sep", "maxsplit"}, 0, false, split<true>},
    {"rstrip", {"chars"}, 0, false, stripped<Side::kRight>},
    {"split", {"sep", "maxsplit"}, 0, false, split<false>},
    {"splitlines", {"keepends"}, 0, false, splitlines},
    {"startswith", {"prefix", "start", "end"}, 1, false, affix<starts>},
    {"strip", {"chars"}, 0, false, stripped<Side::kBoth>},
    {"swapcase", {}, 0, false, changed<swap_case>},
    {"title", {}, 0, false, changed<to_title>},
    {"upper", {}, 0, false, changed<to_upper>},
    {"zfill", {"width"}, 1, false, zfill},
};

}  // namespace

std::span<const FunctionRow> string_methods() {
  return kStringMethods;
}

}  // namespace nereid::chat
