// SPDX-License-Identifier: Apache-2.0
// The server's log: everything that the program says to the person at the terminal, with the levels, the form and the
// file that options and clients of the protocol ask for.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/console.h"
#include "server/core/log_control.h"

namespace nereid::server {

// Takes over standard error's lines once the settings are not those of any command; one at a time, and whatever writes
// lines has ended before it goes. kNotFound and the like: the file cannot be opened.
Result<std::shared_ptr<LogControl>> open_server_log(const LogSettings& settings);

// A line as it is written, without its end; pure, for tests. `unix_us`: microseconds since 1970, shown in UTC.
std::string log_line(LogFormat format, LogLevel level, std::string_view text, int64_t unix_us, int process);

}  // namespace nereid::server
