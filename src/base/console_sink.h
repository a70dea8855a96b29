// SPDX-License-Identifier: Apache-2.0
// Who takes what the program would write to standard error, in place of it: a server with a log of its own.
#pragma once

#include <string_view>

#include "base/console.h"

namespace nereid {

// Thread-safe.
class ConsoleSink {
 public:
  virtual ~ConsoleSink() = default;
  virtual void line(LogLevel level, std::string_view text) = 0;
};

// nullptr: standard error, as in the beginning. The sink lives until another is set and no thread writes lines.
void set_console_sink(ConsoleSink* sink);

}  // namespace nereid
