// SPDX-License-Identifier: Apache-2.0
// Finds the text of a value inside a JSON text. A document in memory forgets the order of keys, which templates print
// and grammars of schemas follow.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace nereid::server::openai {

// A step into an object (its member) or an array (its element).
using JsonStep = std::variant<std::string_view, size_t>;

// `json` must be a valid JSON text (base/json.h has read it). The value's text without the spaces around it; of several
// members with the same name the last. "" when there is no such value. Linear in the text.
std::string_view raw_value(std::string_view json, std::span<const JsonStep> path);

}  // namespace nereid::server::openai
