// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve_grpc/grpc_settings.h"

#include "server/protocol/kserve/log_settings.h"

namespace nereid::server::kserve {
namespace {

using LogValue = inference::LogSettingsRequest::SettingValue;

Status wrong_type(const std::string& name, std::string_view wanted) {
  return invalid_argument("expect {} for '{}'", wanted, name);
}

Status read_flag(const std::string& name, const LogValue& value, std::optional<bool>* out) {
  if (!value.has_bool_param()) return wrong_type(name, "boolean");
  *out = value.bool_param();
  return Status::ok();
}

Status read_one(const std::string& name, const LogValue& value, LogChange* change) {
  if (name == "log_file") return log_file_is_fixed();
  if (name == "log_info") return read_flag(name, value, &change->info);
  if (name == "log_warning") return read_flag(name, value, &change->warning);
  if (name == "log_error") return read_flag(name, value, &change->error);
  if (name == "log_verbose_level") {
    if (!value.has_uint32_param()) return wrong_type(name, "int32");
    change->verbose_level = value.uint32_param();
  } else if (name == "log_format") {
    if (!value.has_string_param()) return wrong_type(name, "string");
    change->format = log_format_from_name(value.string_param());
    if (!change->format) return invalid_argument("invalid argument for log_format, got: {}", value.string_param());
  } else {
    return no_log_setting(name);
  }
  return Status::ok();
}

}  // namespace

Status exchange_trace_settings(const GrpcOptions& options, const inference::TraceSettingRequest& request,
                               inference::TraceSettingResponse* response) {
  const std::string& model = request.model_name();
  if (!model.empty() && !options.models->find(model, -1).is_ok())
    return invalid_argument("Request for unknown model : {}", model);
  std::vector<TraceChange> changes;
  for (const auto& [name, value] : request.settings()) {
    TraceChange change{name, std::nullopt};
    if (value.value_size() > 0) change.second.emplace(value.value().begin(), value.value().end());
    changes.push_back(std::move(change));
  }
  if (!changes.empty()) NEREID_RETURN_IF_ERROR(options.tracer->change(model, changes));
  for (const auto& [name, values] : options.tracer->settings(model)) {
    auto& setting = (*response->mutable_settings())[name];
    for (const std::string& value : values) setting.add_value(value);
  }
  return Status::ok();
}

Status exchange_log_settings(const GrpcOptions& options, const inference::LogSettingsRequest& request,
                             inference::LogSettingsResponse* response) {
  LogChange change;
  for (const auto& [name, value] : request.settings()) NEREID_RETURN_IF_ERROR(read_one(name, value, &change));
  if (request.settings_size() > 0) options.log->change(change);
  const LogSettings s = options.log->read();
  auto& out = *response->mutable_settings();
  out["log_file"].set_string_param(s.file);
  out["log_info"].set_bool_param(s.info);
  out["log_warning"].set_bool_param(s.warning);
  out["log_error"].set_bool_param(s.error);
  out["log_verbose_level"].set_uint32_param(s.verbose_level);
  out["log_format"].set_string_param(std::string(log_format_name(s.format)));
  return Status::ok();
}

}  // namespace nereid::server::kserve
