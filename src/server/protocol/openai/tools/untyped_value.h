// SPDX-License-Identifier: Apache-2.0
// Values that a model writes without quotes, as JSON: by the type that the tool's schema gives them, or by their looks.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace nereid::server::openai {

// With its quotes; what is no UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text);

class ParameterTypes {
 public:
  ParameterTypes() = default;
  // `schema` is a JSON schema of an object; whatever else it is, nothing is known then.
  explicit ParameterTypes(std::string_view schema);
  // The value of a parameter: text where the schema wants a string, else JSON (or Python's True, False and None) where
  // it is that, else text.
  std::string json(std::string_view parameter, std::string_view value) const;

 private:
  enum class Type : uint8_t { kAny, kText, kTextOrNull };
  std::map<std::string, Type, std::less<>> types_;
};

}  // namespace nereid::server::openai
