// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/fields.h"

#include <algorithm>
#include <cmath>

#include "base/log.h"
#include "server/protocol/openai/json_cost.h"

namespace nereid::server::openai {
namespace {

constexpr size_t kMaxBodyBytes = size_t{16} << 20;
constexpr int kMaxDepth = 100;

std::optional<int64_t> whole_number(const Json& value) {
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) return std::nullopt;
  if (value.is_number_integer()) return value.get<int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const auto number = value.get<double>();
  if (std::trunc(number) != number || std::abs(number) > 0x1p53) return std::nullopt;
  return static_cast<int64_t>(number);
}

// Letters to change, insert or leave out; enough to see a slip of the hand.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1] ? 1 : 0)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view json_type_name(const Json& value) {
  if (value.is_null()) return "null";
  if (value.is_boolean()) return "a boolean";
  if (value.is_string()) return "a string";
  if (value.is_array()) return "an array";
  if (value.is_object()) return "an object";
  return value.is_number_integer() ? "an integer" : "a decimal";
}

std::string Fields::path(std::string_view name) const {
  return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

void Fields::fail(std::string_view name, std::string_view code, std::string message) const {
  error_->set({.message = std::move(message), .param = path(name), .code = code});
}

void Fields::fail_type(std::string_view name, std::string_view expected, const Json& found) const {
  fail(name, "invalid_type",
       fmt::format("Invalid type for '{}': expected {}, but got {} instead.", path(name), expected,
                   json_type_name(found)));
}

void Fields::ignore(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) known_.emplace_back(name);
}

const Json* Fields::any(std::string_view name) {
  known_.emplace_back(name);
  return json_find(object_, name);
}

const Json* Fields::object(std::string_view name) {
  const Json* value = any(name);
  if (!value || value->is_object()) return value;
  fail_type(name, "an object", *value);
  return nullptr;
}

const Json* Fields::array(std::string_view name) {
  const Json* value = any(name);
  if (!value || value->is_array()) return value;
  fail_type(name, "an array", *value);
  return nullptr;
}

std::optional<std::string> Fields::text(std::string_view name) {
  const Json* value = any(name);
  if (!value) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  fail_type(name, "a string", *value);
  return std::nullopt;
}

std::optional<bool> Fields::boolean(std::string_view name) {
  const Json* value = any(name);
  if (!value) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  fail_type(name, "a boolean", *value);
  return std::nullopt;
}

std::optional<double> Fields::number(std::string_view name, double low, double high) {
  const Json* value = any(name);
  if (!value) return std::nullopt;
  if (!value->is_number()) {
    fail_type(name, "a decimal", *value);
    return std::nullopt;
  }
  const auto number = value->get<double>();
  if (number >= low && number <= high) return number;
  const bool is_low = number < low;
  fail(name, is_low ? "decimal_below_min_value" : "decimal_above_max_value",
       fmt::format("Invalid '{}': decimal {} value. Expected a value {} {}, but got {} instead.", path(name),
                   is_low ? "below minimum" : "above maximum", is_low ? ">=" : "<=", is_low ? low : high,
                   value->dump()));
  return std::nullopt;
}

std::optional<int64_t> Fields::integer(std::string_view name, int64_t low, int64_t high) {
  const Json* value = any(name);
  if (!value) return std::nullopt;
  if (!value->is_number()) {
    fail_type(name, "an integer", *value);
    return std::nullopt;
  }
  const std::optional<int64_t> number = whole_number(*value);
  if (!number && std::trunc(value->get<double>()) != value->get<double>()) {
    fail_type(name, "an integer", *value);
    return std::nullopt;
  }
  if (number && *number >= low && *number <= high) return number;
  const bool is_low = value->get<double>() < static_cast<double>(low);
  fail(name, is_low ? "integer_below_min_value" : "integer_above_max_value",
       fmt::format("Invalid '{}': integer {} value. Expected a value {} {}, but got {} instead.", path(name),
                   is_low ? "below minimum" : "above maximum", is_low ? ">=" : "<=", is_low ? low : high,
                   value->dump()));
  return std::nullopt;
}

std::optional<std::string> Fields::word(std::string_view name, std::span<const std::string_view> allowed) {
  std::optional<std::string> value = text(name);
  if (!value || std::find(allowed.begin(), allowed.end(), *value) != allowed.end()) return value;
  std::string list;
  for (const std::string_view one : allowed) list += fmt::format("{}'{}'", list.empty() ? "" : ", ", one);
  fail(name, "invalid_value", fmt::format("Invalid value: '{}'. Supported values are: {}.", *value, list));
  return std::nullopt;
}

std::vector<std::string> Fields::texts(std::string_view name, size_t most) {
  const Json* value = any(name);
  if (!value) return {};
  if (value->is_string()) return {value->get<std::string>()};
  std::vector<std::string> found;
  if (!value->is_array()) {
    fail_type(name, "a string or an array of strings", *value);
    return found;
  }
  if (value->size() > most) {
    fail(name, "array_above_max_length",
         fmt::format("Invalid '{}': array too long. Expected an array with maximum length {}, but got an array with "
                     "length {} instead.",
                     path(name), most, value->size()));
    return found;
  }
  for (size_t i = 0; i < value->size(); ++i) {
    if (!(*value)[i].is_string()) {
      fail_type(fmt::format("{}[{}]", name, i), "a string", (*value)[i]);
      return {};
    }
    found.push_back((*value)[i].get<std::string>());
  }
  return found;
}

void Fields::require(std::string_view name) {
  if (!has(name))
    fail(name, "missing_required_parameter", fmt::format("Missing required parameter: '{}'.", path(name)));
}

std::optional<std::string> Fields::required_text(std::string_view name) {
  require(name);
  return text(name);
}

void Fields::log_unknown(std::string_view what) const {
  if (!object_.is_object() || !stderr_console().enabled(LogLevel::debug)) return;
  for (const auto& [name, value] : object_.items()) {
    if (name.size() > 64 || std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    const auto near = std::find_if(known_.begin(), known_.end(),
                                   [&, &n = name](const std::string& one) { return edit_distance(one, n) <= 2; });
    log_debug("{} ignores the member '{}'{}", what, path(name),
              near == known_.end() ? "" : fmt::format("; was '{}' meant?", *near));
  }
}

bool has_small_objects(const Json& value) {
  if (value.is_object() && value.size() > kMaxOrderedMembers) return false;
  if (!value.is_structured()) return true;
  return std::all_of(value.begin(), value.end(), [](const Json& one) { return has_small_objects(one); });
}

Json read_body(std::string_view body, FirstError* error) {
  if (body.size() > kMaxBodyBytes) {
    error->set(
        {.http = 413,
         .message = fmt::format("The request's body has {} bytes; at most {} are read.", body.size(), kMaxBodyBytes),
         .code = "request_too_large"});
    return Json::object();
  }
  if (const int64_t bytes = document_bytes(body); bytes > kMaxDocumentBytes) {
    error->set({.http = 413,
                .message = fmt::format("The request's body has so many values that reading it would take {} MiB of "
                                       "memory; at most {} MiB are given to it.",
                                       bytes >> 20, kMaxDocumentBytes >> 20),
                .code = "request_too_large"});
    return Json::object();
  }
  Result<Json> json = parse_json(body, {.max_depth = kMaxDepth, .max_bytes = kMaxBodyBytes});
  if (!json.is_ok()) {
    error->set(
        {.message = fmt::format("We could not parse the JSON body of your request: {}.", json.status().message()),
         .code = "invalid_json"});
    return Json::object();
  }
  if (!json->is_object()) {
    error->set(
        {.message = fmt::format("The request's body must be a JSON object, but it is {}.", json_type_name(*json)),
         .code = "invalid_type"});
    return Json::object();
  }
  return std::move(json).value();
}

}  // namespace nereid::server::openai
