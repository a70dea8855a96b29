// SPDX-License-Identifier: Apache-2.0
// What commands read: files, or the standard input where a file is called "-".
#pragma once

#include <string>

#include "base/status.h"

namespace nereid::cli {

// A wait for input looks at Ctrl-C so often, however the signal and the wait meet.
inline constexpr int kLookAgainMs = 100;

// The whole content, at most 1 GiB. `what` names it in sentences: "the prompt".
Result<std::string> read_input(const std::string& path, std::string_view what);

}  // namespace nereid::cli
