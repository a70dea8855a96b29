// SPDX-License-Identifier: Apache-2.0
// Python's json.dumps: the same escapes, separators, indentation and spelling of numbers and keys.
#include "llm/chat/json_text.h"

#include <algorithm>
#include <cmath>

#include "llm/chat/text.h"
#include "llm/chat/utf8.h"

namespace nereid::chat {
namespace {

void write_unicode_escape(TextBuilder& out, int32_t c) {
  if (c >= 0x10000) {
    const int32_t rest = c - 0x10000;
    out.add(fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF)));
  } else {
    out.add(fmt::format("\\u{:04x}", c));
  }
}

void write_string(TextBuilder& out, std::string_view text, bool ensure_ascii) {
  out.add('"');
  size_t plain = 0;  // start of the run that needs no escape
  for (size_t i = 0; i < text.size() && !out.heap().is_spent();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool wide = byte >= 0x80;
    if (byte >= 0x20 && byte != '"' && byte != '\\' && byte != 0x7F && !(wide && ensure_ascii)) {
      ++i;
      continue;
    }
    const CodePoint c = code_point_at(text, i);
    if (byte == 0x7F || c.value < 0) {  // DEL stands for itself; a stray byte cannot be escaped
      i += c.bytes;
      continue;
    }
    out.add(text.substr(plain, i - plain));
    switch (byte) {
      case '"':
        out.add("\\\"");
        break;
      case '\\':
        out.add("\\\\");
        break;
      case '\n':
        out.add("\\n");
        break;
      case '\r':
        out.add("\\r");
        break;
      case '\t':
        out.add("\\t");
        break;
      case '\f':
        out.add("\\f");
        break;
      case '\b':
        out.add("\\b");
        break;
      default:
        write_unicode_escape(out, c.value);
    }
    i += c.bytes;
    plain = i;
  }
  out.add(text.substr(plain)).add('"');
}

std::string json_float(double v) {
  if (std::isnan(v)) return "NaN";
  if (std::isinf(v)) return v < 0 ? "-Infinity" : "Infinity";
  return float_text(v);
}

class Writer {
 public:
  Writer(TextBuilder& out, const JsonStyle& style) : out_(out), style_(style) {}

  Status write(const Value& value, int depth) {
    if (depth > kMaxDepth) return invalid_argument("tojson: the value is nested more than {} deep.", kMaxDepth);
    if (!out_.heap().work(1)) return out_.heap().status();
    switch (value.kind()) {
      case Kind::kNone:
        out_.add("null");
        break;
      case Kind::kBool:
        out_.add(value.as_bool() ? "true" : "false");
        break;
      case Kind::kInt:
        out_.add(fmt::format("{}", value.as_int()));
        break;
      case Kind::kFloat:
        out_.add(json_float(value.as_double()));
        break;
      case Kind::kString:
        write_string(out_, value.as_text(), style_.ensure_ascii);
        break;
      case Kind::kList:
      case Kind::kTuple:
        return array(value.as_sequence().items, depth);
      case Kind::kDict:
        return object(value.as_dict(), depth);
      default:
        return invalid_argument("Object of type {} is not JSON serializable.", type_name(value));
    }
    return Status::ok();
  }

 private:
  void new_line(int depth) {
    if (style_.is_indented) out_.add('\n').repeat(style_.indent, static_cast<size_t>(depth));
  }

  Status array(const std::vector<Value>& items, int depth) {
    if (items.empty()) return out_.add("[]"), Status::ok();
    out_.add('[');
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_.add(style_.item_separator);
      new_line(depth + 1);
      NEREID_RETURN_IF_ERROR(write(items[i], depth + 1));
    }
    new_line(depth);
    out_.add(']');
    return Status::ok();
  }

  Status object(const Dict& dict, int depth) {
    if (dict.entries.empty()) return out_.add("{}"), Status::ok();
    std::vector<const Dict::Entry*> entries;
    for (const Dict::Entry& entry : dict.entries) entries.push_back(&entry);
    if (style_.sort_keys) {
      std::stable_sort(entries.begin(), entries.end(), [](const Dict::Entry* a, const Dict::Entry* b) {
        return a->key.is_string() && b->key.is_string() && a->key.as_text() < b->key.as_text();
      });
    }
    out_.add('{');
    bool first = true;
    for (const Dict::Entry* entry : entries) {
      if (!first) out_.add(style_.item_separator);
      first = false;
      new_line(depth + 1);
      NEREID_RETURN_IF_ERROR(key(entry->key));
      out_.add(style_.key_separator);
      NEREID_RETURN_IF_ERROR(write(entry->value, depth + 1));
    }
    new_line(depth);
    out_.add('}');
    return Status::ok();
  }

  Status key(const Value& value) {
    if (value.is_string()) return write(value, 0);
    if (!value.is_number() && !value.is_none()) {
      return invalid_argument("keys must be str, int, float, bool or None, not {}.", type_name(value));
    }
    out_.add('"');
    NEREID_RETURN_IF_ERROR(write(value, 0));
    out_.add('"');
    return Status::ok();
  }

  TextBuilder& out_;
  const JsonStyle& style_;
};

Result<Value> convert(Heap& heap, const OrderedJson& json, bool copies, int depth) {
  if (depth > kMaxDepth) return invalid_argument("the JSON is nested more than {} deep.", kMaxDepth);
  auto text = [&](const std::string& s) { return copies ? heap.text(s) : Value::text(s); };
  switch (json.type()) {
    case OrderedJson::value_t::boolean:
      return Value::boolean(json.get<bool>());
    case OrderedJson::value_t::number_unsigned:
      if (json.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) return Value::real(json.get<double>());
      [[fallthrough]];
    case OrderedJson::value_t::number_integer:
      return Value::integer(json.get<int64_t>());
    case OrderedJson::value_t::number_float:
      return Value::real(json.get<double>());
    case OrderedJson::value_t::string:
      return text(json.get_ref<const std::string&>());
    case OrderedJson::value_t::array: {
      std::vector<Value> items;
      items.reserve(json.size());
      for (const OrderedJson& item : json) {
        NEREID_TRY(Value value, convert(heap, item, copies, depth + 1));
        items.push_back(value);
      }
      return heap.list(std::move(items));
    }
    case OrderedJson::value_t::object: {
      Value dict = heap.dict();
      heap.take(json.size() * sizeof(Dict::Entry));
      dict.as_dict().entries.reserve(json.size());
      for (const auto& [name, item] : json.items()) {
        NEREID_TRY(Value value, convert(heap, item, copies, depth + 1));
        // The keys of a JSON object are distinct already.
        dict.as_dict().entries.push_back({text(name), value});
      }
      return dict;
    }
    default:
      return Value::none();
  }
}

}  // namespace

Status write_json(TextBuilder& out, const Value& value, const JsonStyle& style) {
  return Writer(out, style).write(value, 0);
}

Result<Value> from_json(Heap& heap, const OrderedJson& json) {
  return convert(heap, json, false, 0);
}
Result<Value> copy_json(Heap& heap, const OrderedJson& json) {
  return convert(heap, json, true, 0);
}

}  // namespace nereid::chat
