// SPDX-License-Identifier: Apache-2.0
// Python's literals as JSON: strings, numbers, True, False, None, lists, tuples, dicts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nereid::server::openai {

// What stands between the brackets of a call, name=literal divided by commas, as a JSON object. Nothing where it is
// anything else: names as values, calls, arguments without a name, more than 64 brackets inside each other.
std::optional<std::string> keywords_as_json(std::string_view arguments);

}  // namespace nereid::server::openai
