// SPDX-License-Identifier: Apache-2.0
// What `nereid inspect` prints of a file: text for people, one JSON object for programs.
#pragma once

#include <string>

#include "base/json.h"
#include "compile/describe.h"

namespace nereid::cli {

struct InspectParts {
  bool summary = true;
  bool metadata = true;
  bool tensors = true;
};

std::string inspect_text(const compile::Description& description, const InspectParts& parts);
Json inspect_json(const compile::Description& description, const InspectParts& parts);

// Text that a terminal can show: control characters as '?' (line breaks as blanks), at most `most` bytes, cut between
// characters and ended by "...".
std::string one_line(std::string_view text, size_t most);

}  // namespace nereid::cli
