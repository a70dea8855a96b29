// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve/log_settings.h"

namespace nereid::server::kserve {

std::string_view log_format_name(LogFormat format) {
  switch (format) {
    case LogFormat::kPlain:
    case LogFormat::kDefault:
      return "default";
    case LogFormat::kIso8601:
      return "ISO8601";
    case LogFormat::kJson:
      return "JSON";
  }
  return "default";
}

std::optional<LogFormat> log_format_from_name(std::string_view name) {
  if (name == "default") return LogFormat::kDefault;
  if (name == "ISO8601") return LogFormat::kIso8601;
  if (name == "JSON") return LogFormat::kJson;
  return std::nullopt;
}

Status log_file_is_fixed() {
  return unsupported("log file location can not be updated through network protocol");
}

Status no_log_setting(std::string_view name) {
  return invalid_argument(
      "there is no log setting '{}'; there are log_info, log_warning, log_error, log_verbose_level and log_format",
      name);
}

}  // namespace nereid::server::kserve
