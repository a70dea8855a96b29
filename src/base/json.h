// SPDX-License-Identifier: Apache-2.0
// JSON documents whole in memory, for configs and indexes (request bodies have a faster reader in the server).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/status.h"

namespace nereid {

using Json = nlohmann::json;

struct JsonLimits {
  int max_depth = 128;                   // nested arrays and objects
  size_t max_bytes = size_t{256} << 20;  // of the text; the document takes at most some 50 times as much
};

// kInvalidArgument, with line and column (in bytes, from 1), for what is not one JSON value in UTF-8, nests deeper or
// is longer. Of several members with the same name the last one counts. Never throws.
Result<Json> parse_json(std::string_view text, const JsonLimits& limits = {});

// A member of an object by name. kNotFound when absent, kInvalidArgument when of another type (or `object` is no
// object); the sentence names the member. A number without a fraction is an integer, whichever way it is written (1e3).
Result<std::string> json_string(const Json& object, std::string_view key);
Result<int64_t> json_int(const Json& object, std::string_view key);
Result<double> json_float(const Json& object, std::string_view key);
Result<bool> json_bool(const Json& object, std::string_view key);
Result<const Json*> json_array(const Json& object, std::string_view key);
Result<const Json*> json_object(const Json& object, std::string_view key);

// `fallback` when the member is absent or null; still an error when it is of another type.
Result<std::string> json_string_or(const Json& object, std::string_view key, std::string_view fallback);
Result<int64_t> json_int_or(const Json& object, std::string_view key, int64_t fallback);
Result<double> json_float_or(const Json& object, std::string_view key, double fallback);
Result<bool> json_bool_or(const Json& object, std::string_view key, bool fallback);

// The member, or nullptr when it is absent or null, or `object` is no object.
const Json* json_find(const Json& object, std::string_view key);

}  // namespace nereid
