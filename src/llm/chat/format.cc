// SPDX-License-Identifier: Apache-2.0
// The two format languages around the fields.
#include "llm/chat/format.h"

#include <charconv>

#include "llm/chat/interpreter.h"
#include "llm/chat/operators.h"
#include "llm/chat/text.h"
#include "llm/chat/utf8.h"

namespace nereid::chat {
namespace {

class PercentFormatter {
 public:
  PercentFormatter(Heap& heap, std::string_view format, const Value& values)
      : out_(heap), format_(format), values_(values) {}

  Result<Value> run() {
    size_t i = 0;
    while (i < format_.size()) {
      const size_t percent = std::min(format_.find('%', i), format_.size());
      out_.add(format_.substr(i, percent - i));
      if (percent == format_.size()) break;
      i = percent + 1;
      NEREID_RETURN_IF_ERROR(field(&i));
    }
    const bool counts = values_.is(Kind::kTuple) || (!values_.is_dict() && !used_name_ && !values_.is_sequence());
    if (counts && next_ < value_count())
      return invalid_argument("not all arguments converted during string formatting.");
    return out_.finish();
  }

 private:
  size_t value_count() const { return values_.is(Kind::kTuple) ? values_.as_sequence().items.size() : 1; }

  Result<Value> next_value() {
    if (next_ >= value_count()) return invalid_argument("not enough arguments for format string.");
    const size_t i = next_++;
    return values_.is(Kind::kTuple) ? values_.as_sequence().items[i] : values_;
  }

  Result<Value> named_value(size_t* i) {
    const size_t end = format_.find(')', *i);
    if (end == std::string_view::npos) return invalid_argument("incomplete format key.");
    if (!values_.is_dict()) return invalid_argument("format requires a mapping.");
    const std::string_view key = format_.substr(*i + 1, end - *i - 1);
    *i = end + 1;
    used_name_ = true;
    const Value* value = values_.as_dict().find(key);
    if (!value) return invalid_argument("the format names '{}', which is not among the values.", key);
    return *value;
  }

  // A number or a star, which takes the next value.
  Status number(size_t* i, int64_t* out) {
    if (*i < format_.size() && format_[*i] == '*') {
      ++*i;
      NEREID_TRY(Value value, next_value());
      if (!value.is_integral()) return invalid_argument("* wants int.");
      *out = std::min<int64_t>(value.as_int(), 100'000'000);
      return Status::ok();
    }
    for (; *i < format_.size() && format_[*i] >= '0' && format_[*i] <= '9'; ++*i) {
      *out = std::min<int64_t>(*out * 10 + (format_[*i] - '0'), 100'000'000);
    }
    return Status::ok();
  }

  Status field(size_t* i) {
    Value value;
    if (*i < format_.size() && format_[*i] == '(') {
      NEREID_TRY(value, named_value(i));
    }
    FormatSpec spec;
    spec.align = '>';
    for (bool left = false; *i < format_.size(); ++*i) {
      const char c = format_[*i];
      if (c == '-') {
        left = true;
        spec.align = '<';
        spec.fill = " ";
      } else if (c == '0' && !left) {
        spec.align = '=';
        spec.fill = "0";
      } else if (c == '+' || (c == ' ' && spec.sign != '+')) {
        spec.sign = c;
      } else if (c == '#') {
        spec.is_alternate = true;
      } else if (c != '0' && c != ' ') {
        break;
      }
    }
    NEREID_RETURN_IF_ERROR(number(i, &spec.width));
    if (spec.width < 0) {
      spec.width = -spec.width;
      spec.align = '<';
    }
    if (*i < format_.size() && format_[*i] == '.') {
      ++*i;
      spec.precision = 0;
      NEREID_RETURN_IF_ERROR(number(i, &spec.precision));
    }
    if (*i >= format_.size()) return invalid_argument("incomplete format.");
    const char type = format_[(*i)++];
    if (type == '%') {
      out_.add('%');
      return Status::ok();
    }
    if (value.is_missing()) {
      NEREID_TRY(value, next_value());
    }
    return write(value, type, spec);
  }

  Status write(Value value, char type, FormatSpec spec) {
    Heap& heap = out_.heap();
    switch (type) {
      case 's':
      case 'r':
      case 'a': {
        if (type != 's') {
          TextBuilder text(heap);
          write_repr(text, value);
          value = text.finish();
        }
        spec.type = 's';
        if (spec.align == '=') spec.align = '>';
        spec.fill = " ";
        return write_formatted(out_, to_str(heap, value), spec);
      }
      case 'd':
      case 'i':
      case 'u':
        if (value.is(Kind::kFloat)) {
          NEREID_TRY(value, to_integer(value.as_double()));
        }
        type = 'd';
        break;
      case 'x':
      case 'X':
      case 'o':
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        break;
      case 'c':
        if (value.is_string()) {
          if (count_code_points(value.as_text()) != 1) return invalid_argument("%c requires int or char.");
          type = 's';
          spec.precision = -1;
        }
        break;
      default:
        return invalid_argument("unsupported format character '{}'.", type);
    }
    if (type != 's' && !value.is_number()) {
      return invalid_argument("%{} format: a number is required, not {}.", type, type_name(value));
    }
    if (value.is(Kind::kFloat) && std::string_view("xXoc").find(type) != std::string_view::npos) {
      return invalid_argument("%{} format: an integer is required, not float.", type);
    }
    const bool has_digits = std::string_view("dxXo").find(type) != std::string_view::npos;
    if (has_digits && spec.precision >= 0) {
      spec.min_digits = std::min<int64_t>(std::exchange(spec.precision, -1), 1000);
    }
    spec.type = type;
    return write_formatted(out_, value, spec);
  }

  TextBuilder out_;
  std::string_view format_;
  const Value& values_;
  size_t next_ = 0;
  bool used_name_ = false;
};

class BraceFormatter {
 public:
  BraceFormatter(Interpreter& in, const Args& args) : in_(in), args_(args), out_(in.heap()) {}

  Result<Value> run(std::string_view text) {
    for (size_t i = 0; i < text.size();) {
      const size_t brace = std::min(text.find_first_of("{}", i), text.size());
      out_.add(text.substr(i, brace - i));
      if (brace == text.size()) break;
      if (brace + 1 < text.size() && text[brace + 1] == text[brace]) {
        out_.add(text[brace]);
        i = brace + 2;
        continue;
      }
      if (text[brace] == '}') return invalid_argument("single '}}' encountered in format string.");
      const size_t end = closing(text, brace + 1);
      if (end == std::string_view::npos) return invalid_argument("expected '}}' before end of string.");
      NEREID_RETURN_IF_ERROR(field(text.substr(brace + 1, end - brace - 1)));
      i = end + 1;
    }
    return out_.finish();
  }

 private:
  // A spec may hold one level of fields of its own.
  static size_t closing(std::string_view text, size_t i) {
    for (int depth = 1; i < text.size(); ++i) {
      if (text[i] == '{') ++depth;
      if (text[i] == '}' && --depth == 0) return i;
    }
    return std::string_view::npos;
  }

  Status field(std::string_view text) {
    std::string_view spec_text;
    // A ':' or '!' inside of [...] belongs to the key.
    size_t end = 0;
    for (bool in_key = false; end < text.size(); ++end) {
      if (text[end] == '[') in_key = true;
      if (text[end] == ']') in_key = false;
      if (!in_key && (text[end] == ':' || text[end] == '!')) break;
    }
    const std::string_view path = text.substr(0, end);
    char conversion = 's';
    bool converts = false;
    if (end < text.size() && text[end] == '!') {
      if (end + 1 >= text.size()) return invalid_argument("end of string while looking for conversion specifier.");
      conversion = text[end + 1];
      converts = true;
      end += 2;
      if (end < text.size() && text[end] != ':') return invalid_argument("expected ':' after conversion specifier.");
    }
    if (end < text.size()) spec_text = text.substr(end + 1);
    NEREID_TRY(Value value, look_up(path));
    Value expanded;
    if (spec_text.find('{') != std::string_view::npos) {
      if (nested_) return invalid_argument("max string recursion exceeded.");
      BraceFormatter inner(in_, args_);
      inner.nested_ = true;
      inner.next_ = next_;
      NEREID_TRY(expanded, inner.run(spec_text));
      next_ = inner.next_;
      spec_text = expanded.as_text();
    }
    if (converts && conversion == 'r') {
      TextBuilder repr(in_.heap());
      write_repr(repr, value);
      value = repr.finish();
    } else if (converts) {
      value = to_str(in_.heap(), value);
    }
    return write_with_spec(out_, value, spec_text);
  }

  Result<Value> look_up(std::string_view path) {
    const size_t end = std::min(path.find_first_of(".["), path.size());
    NEREID_TRY(Value value, argument(path.substr(0, end)));
    for (size_t i = end; i < path.size();) {
      if (path[i] == '.') {
        const size_t stop = std::min(path.find_first_of(".[", i + 1), path.size());
        NEREID_TRY(value, in_.attribute_of(value, path.substr(i + 1, stop - i - 1)));
        i = stop;
      } else {
        const size_t stop = path.find(']', i);
        if (path[i] != '[' || stop == std::string_view::npos) return invalid_argument("missing ']' in format string.");
        const std::string_view key = path.substr(i + 1, stop - i - 1);
        int64_t number = 0;
        const bool is_number = as_number(key, &number);
        NEREID_TRY(value, in_.item_of(value, is_number ? Value::integer(number) : Value::text(key)));
        i = stop + 1;
      }
    }
    return value;
  }

  static bool as_number(std::string_view text, int64_t* out) {
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), *out);
    return ec == std::errc() && end == text.data() + text.size() && *out >= 0;
  }

  Result<Value> argument(std::string_view name) {
    int64_t position = 0;
    if (name.empty()) {
      position = static_cast<int64_t>(next_++);
    } else if (!as_number(name, &position)) {
      for (const NamedValue& n : args_.named) {
        if (n.name == name) return n.value;
      }
      return invalid_argument("the format names '{}', which is not among the arguments.", name);
    }
    if (static_cast<size_t>(position) >= args_.rest.size()) {
      return invalid_argument("replacement index {} out of range for positional args.", position);
    }
    return args_.rest[static_cast<size_t>(position)];
  }

  Interpreter& in_;
  const Args& args_;
  TextBuilder out_;
  size_t next_ = 0;
  bool nested_ = false;
};

}  // namespace

Result<Value> format_percent(Heap& heap, const Value& format, const Value& values) {
  return PercentFormatter(heap, format.as_text(), values).run();
}

Result<Value> format_braces(Interpreter& in, std::string_view text, const Args& args) {
  return BraceFormatter(in, args).run(text);
}

}  // namespace nereid::chat
