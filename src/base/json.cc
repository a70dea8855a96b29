// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace nereid {
namespace {

// Builds the document from the parser's events; refuses what nests too deeply before any memory is spent on it.
class Builder {
 public:
  explicit Builder(int max_depth) : max_depth_(max_depth) {}

  using number_integer_t = Json::number_integer_t;
  using number_unsigned_t = Json::number_unsigned_t;
  using number_float_t = Json::number_float_t;
  using string_t = Json::string_t;
  using binary_t = Json::binary_t;

  bool null() { return put(nullptr); }
  bool boolean(bool v) { return put(v); }
  bool number_integer(number_integer_t v) { return put(v); }
  bool number_unsigned(number_unsigned_t v) { return put(v); }
  bool number_float(number_float_t v, const string_t&) { return put(v); }
  bool string(string_t& v) { return put(std::move(v)); }
  bool binary(binary_t&) { return false; }  // no such thing in text
  bool start_object(size_t) { return open(Json::object()); }
  bool start_array(size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(string_t& name) {
    member_ = &(*open_.back())[std::move(name)];
    return true;
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& e) {
    error_position_ = position;
    // "[...] parse error at line 1, column 2: syntax error while parsing value - unexpected ...; expected ..."
    std::string_view what = e.what();
    for (const std::string_view before : {"] ", " - ", "parse error: "})
      if (const size_t at = what.find(before); at != std::string_view::npos) what.remove_prefix(at + before.size());
    error_ = what;
    return false;
  }

  bool too_deep() const { return too_deep_; }
  size_t error_position() const { return error_position_; }
  const std::string& error() const { return error_; }
  Json take() && { return std::move(root_); }

 private:
  template <typename T>
  bool put(T&& value) {
    place(Json(std::forward<T>(value)));
    return true;
  }
  bool open(Json container) {
    if (open_.size() >= static_cast<size_t>(max_depth_)) {
      too_deep_ = true;
      return false;
    }
    open_.push_back(place(std::move(container)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  // Pointers to open containers stay valid: only the innermost grows.
  Json* place(Json value) {
    if (open_.empty()) return &(root_ = std::move(value));
    if (open_.back()->is_object()) return &(*member_ = std::move(value));
    return &open_.back()->get_ref<Json::array_t&>().emplace_back(std::move(value));
  }

  int max_depth_;
  Json root_;
  std::vector<Json*> open_;
  Json* member_ = nullptr;  // of the innermost object, the value that comes next
  bool too_deep_ = false;
  size_t error_position_ = 0;
  std::string error_;
};

// Parser messages quote what they read: keep them printable and short.
std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
  if (text.size() > 200) text = text.substr(0, 90) + " [...] " + text.substr(text.size() - 90);
  return text;
}

std::string_view type_name(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::boolean:
      return "a boolean";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::array:
      return "an array";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::number_float:
      return "a number with a fraction or out of range";
    default:
      return "a number";
  }
}

std::optional<std::string> as_string(const Json& v) {
  if (const auto* s = v.get_ptr<const std::string*>()) return *s;
  return std::nullopt;
}

std::optional<int64_t> as_int(const Json& v) {
  if (const auto* u = v.get_ptr<const Json::number_unsigned_t*>())
    return *u <= static_cast<uint64_t>(INT64_MAX) ? std::optional<int64_t>(static_cast<int64_t>(*u)) : std::nullopt;
  if (const auto* i = v.get_ptr<const Json::number_integer_t*>()) return *i;
  // 2^53: every integer up to here is one double.
  if (const auto* f = v.get_ptr<const double*>(); f && std::trunc(*f) == *f && std::abs(*f) <= 0x1p53)
    return static_cast<int64_t>(*f);
  return std::nullopt;
}

std::optional<double> as_float(const Json& v) {
  return v.is_number() ? std::optional<double>(v.get<double>()) : std::nullopt;
}

std::optional<bool> as_bool(const Json& v) {
  return v.is_boolean() ? std::optional<bool>(v.get<bool>()) : std::nullopt;
}

std::optional<const Json*> as_array(const Json& v) {
  return v.is_array() ? std::optional<const Json*>(&v) : std::nullopt;
}

std::optional<const Json*> as_object(const Json& v) {
  return v.is_object() ? std::optional<const Json*>(&v) : std::nullopt;
}

template <typename T>
Result<T> get(const Json& object, std::string_view key, std::string_view expected,
              std::optional<T> (*convert)(const Json&)) {
  if (!object.is_object())
    return invalid_argument("expected an object with the member '{}', found {}", key, type_name(object));
  const auto at = object.find(key);
  if (at == object.end()) return not_found("the member '{}' is missing", key);
  if (std::optional<T> value = convert(*at)) return std::move(*value);
  return invalid_argument("expected the member '{}' to be {}, found {}", key, expected, type_name(*at));
}

template <typename T>
Result<T> get_or(const Json& object, std::string_view key, T fallback, std::string_view expected,
                 std::optional<T> (*convert)(const Json&)) {
  if (object.is_object() && !json_find(object, key)) return fallback;
  return get(object, key, expected, convert);
}

}  // namespace

Result<Json> parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes)
    return invalid_argument("the JSON text is {} bytes long; expected at most {}", text.size(), limits.max_bytes);
  Builder builder(limits.max_depth);
  if (Json::sax_parse(text.begin(), text.end(), &builder)) return std::move(builder).take();
  if (builder.too_deep())
    return invalid_argument("the JSON text nests deeper than the {} levels that are allowed", limits.max_depth);
  // The position is that of the first byte after the one that was not expected.
  const size_t at = std::min(builder.error_position() ? builder.error_position() - 1 : 0, text.size());
  const std::string_view before = text.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t column = at - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
  return invalid_argument("line {}, column {}: {}", line, column, printable(builder.error()));
}

const Json* json_find(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(key);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}

Result<std::string> json_string(const Json& object, std::string_view key) {
  return get(object, key, "a string", as_string);
}
Result<int64_t> json_int(const Json& object, std::string_view key) {
  return get(object, key, "an integer", as_int);
}
Result<double> json_float(const Json& object, std::string_view key) {
  return get(object, key, "a number", as_float);
}
Result<bool> json_bool(const Json& object, std::string_view key) {
  return get(object, key, "a boolean", as_bool);
}
Result<const Json*> json_array(const Json& object, std::string_view key) {
  return get(object, key, "an array", as_array);
}
Result<const Json*> json_object(const Json& object, std::string_view key) {
  return get(object, key, "an object", as_object);
}

Result<std::string> json_string_or(const Json& object, std::string_view key, std::string_view fallback) {
  return get_or(object, key, std::string(fallback), "a string", as_string);
}
Result<int64_t> json_int_or(const Json& object, std::string_view key, int64_t fallback) {
  return get_or(object, key, fallback, "an integer", as_int);
}
Result<double> json_float_or(const Json& object, std::string_view key, double fallback) {
  return get_or(object, key, fallback, "a number", as_float);
}
Result<bool> json_bool_or(const Json& object, std::string_view key, bool fallback) {
  return get_or(object, key, fallback, "a boolean", as_bool);
}

}  // namespace nereid
