// SPDX-License-Identifier: Apache-2.0
// Reads the members of a request's object with care: wrong types and values out of range are told as OpenAI tells them.
//
// null counts as absent. Members nobody asked for are ignored, as OpenAI's server does; log_unknown() says so at debug.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "server/protocol/openai/api_error.h"

namespace nereid::server::openai {

class Fields {
 public:
  // `object` and `error` must outlive this. `path` is how errors name the object: "", "tools[0].function".
  Fields(const Json& object, FirstError* error, std::string path = "")
      : object_(object), error_(error), path_(std::move(path)) {}

  // nullptr, or nothing: absent, or an error, which is kept.
  const Json* any(std::string_view name);
  const Json* object(std::string_view name);
  const Json* array(std::string_view name);
  std::optional<std::string> text(std::string_view name);
  std::optional<bool> boolean(std::string_view name);
  std::optional<double> number(std::string_view name, double low, double high);
  std::optional<int64_t> integer(std::string_view name, int64_t low, int64_t high);
  // One of these words.
  std::optional<std::string> word(std::string_view name, std::span<const std::string_view> allowed);
  // A string, or an array of at most `most` strings.
  std::vector<std::string> texts(std::string_view name, size_t most);

  // The same, with an error when it is absent.
  std::optional<std::string> required_text(std::string_view name);
  void require(std::string_view name);

  // Known, and without meaning here.
  void ignore(std::initializer_list<std::string_view> names);
  void log_unknown(std::string_view what) const;

  bool has(std::string_view name) const { return json_find(object_, name) != nullptr; }
  const Json& json() const { return object_; }
  FirstError* error() const { return error_; }
  std::string path(std::string_view name) const;
  void fail(std::string_view name, std::string_view code, std::string message) const;
  void fail_type(std::string_view name, std::string_view expected, const Json& found) const;

 private:
  const Json& object_;
  FirstError* error_;
  std::string path_;
  std::vector<std::string> known_;  // as they were asked for, with repeats
};

// "a string", "an object", ...
std::string_view json_type_name(const Json& value);

// Documents that keep the order of their members, which templates read, search them one by one: what goes there may not
// have objects of more members than this.
constexpr size_t kMaxOrderedMembers = 1024;
bool has_small_objects(const Json& value);

// The body as one JSON object. Errors: kept in `error`; an empty object then.
Json read_body(std::string_view body, FirstError* error);

}  // namespace nereid::server::openai
