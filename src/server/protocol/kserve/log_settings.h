// SPDX-License-Identifier: Apache-2.0
// Settings of the log as requests name them.
#pragma once

#include <optional>
#include <string_view>

#include "server/core/log_control.h"

namespace nereid::server::kserve {

// "default", "ISO8601", "JSON"; a log in the program's own form is answered as "default".
std::string_view log_format_name(LogFormat format);
std::optional<LogFormat> log_format_from_name(std::string_view name);
Status log_file_is_fixed();
Status no_log_setting(std::string_view name);

}  // namespace nereid::server::kserve
