// SPDX-License-Identifier: Apache-2.0
// JSON written straight into a string: what a token costs on its way out is a few copies, never a document in memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nereid::server::openai {

// With its quotes. Bytes that are no UTF-8 become U+FFFD, so that what is written is always JSON.
void append_json_string(std::string* out, std::string_view text);
// Without the quotes: a piece of a longer string. It must end at the end of a character.
void append_json_escaped(std::string* out, std::string_view text);
void append_int(std::string* out, int64_t value);
// Shortest digits that read back the same. JSON knows no infinity: what is not finite becomes -9999, as OpenAI writes
// the log-probability of the impossible.
void append_float(std::string* out, float value);

}  // namespace nereid::server::openai
