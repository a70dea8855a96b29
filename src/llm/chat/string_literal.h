// SPDX-License-Identifier: Apache-2.0
// Python's escapes inside a quoted string.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace nereid::chat {

// \n \t \r \a \b \f \v \\ \' \" \ooo \xhh \uhhhh \Uhhhhhhhh and backslash-newline; an unknown escape stays as it is.
// A pair of surrogates becomes the one character it stands for. Error: a sentence without line number.
Result<std::string> decode_string_literal(std::string_view body);

}  // namespace nereid::chat
