// SPDX-License-Identifier: Apache-2.0
// GPT-2's printable stand-ins for bytes: vocabulary files write byte 0x20 as U+0120 and so on.
//
// The bytes 21..7E, A1..AC and AE..FF stand for themselves (as code points); the others, in order, are U+0100 and up.
#pragma once

#include <string>
#include <string_view>

namespace nereid::token {

// The byte a stand-in character means, or -1 if the character is none.
int byte_of_stand_in(char32_t c);
char32_t stand_in_of_byte(unsigned char byte);

// Appends the bytes that `text` (UTF-8 stand-ins) means to `out`; false, and `out` as before, if a character is none.
bool append_unmapped(std::string_view text, std::string& out);
// Bytes to stand-ins.
std::string map_bytes(std::string_view bytes);

}  // namespace nereid::token
