// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "server/protocol/kserve/endpoints/handlers.h"
#include "server/protocol/kserve/json_reader.h"
#include "server/protocol/kserve/json_writer.h"
#include "server/protocol/kserve/kserve_error.h"
#include "server/protocol/kserve/log_settings.h"

namespace nereid::server::kserve {
namespace {

constexpr std::string_view kNames[] = {"log_info", "log_warning", "log_error", "log_verbose_level", "log_format"};

Result<LogChange> read_change(const std::string& body) {
  NEREID_TRY(const JsonDocument document, JsonDocument::parse(body));
  const JsonValue root = document.root();
  LogChange change;
  const auto flag = [&](std::string_view name, std::optional<bool>* out) -> Status {
    const auto value = root.find(name);
    if (!value) return Status::ok();
    if (!value->is_bool()) return wrong_json("non-boolean", "boolean");
    *out = value->boolean();
    return Status::ok();
  };
  if (root.find("log_file")) return log_file_is_fixed();
  if (root.is_object())
    for (auto one = root.first(); one; one = one->next(root))
      if (std::find(std::begin(kNames), std::end(kNames), one->text()) == std::end(kNames))
        return no_log_setting(one->text());
  NEREID_RETURN_IF_ERROR(flag("log_info", &change.info));
  NEREID_RETURN_IF_ERROR(flag("log_warning", &change.warning));
  NEREID_RETURN_IF_ERROR(flag("log_error", &change.error));
  if (const auto level = root.find("log_verbose_level")) {
    const std::optional<uint64_t> value = level->as_uint();
    if (!value) return wrong_json("non-unsigned-integer", "unsigned-integer");
    change.verbose_level = static_cast<uint32_t>(std::min<uint64_t>(*value, UINT32_MAX));
  }
  if (const auto format = root.find("log_format")) {
    if (!format->is_string()) return wrong_json("non-string", "string");
    change.format = log_format_from_name(format->text());
    if (!change.format) return unavailable("invalid argument for --log_format, got: {}", format->text());
  }
  return change;
}

net::Response answer(const LogSettings& s) {
  std::string file;
  append_text(&file, s.file);
  return net::json_response(
      200, fmt::format("{{\"log_file\":{},\"log_info\":{},\"log_warning\":{},\"log_error\":{},\"log_verbose_level\":{},"
                       "\"log_format\":\"{}\"}}",
                       file, s.info, s.warning, s.error, s.verbose_level, log_format_name(s.format)));
}

}  // namespace

net::Response log_settings(const Service& service, const net::Request&) {
  return answer(service.log->read());
}

net::Response change_log_settings(const Service& service, const net::Request& request) {
  const Result<LogChange> change = read_change(request.body);
  if (!change.is_ok()) return error_response(change.status());
  service.log->change(*change);
  return answer(service.log->read());
}

}  // namespace nereid::server::kserve
