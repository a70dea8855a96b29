// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve/base64.h"
#include "server/protocol/kserve/endpoints/handlers.h"
#include "server/protocol/kserve/json_reader.h"
#include "server/protocol/kserve/json_writer.h"
#include "server/protocol/kserve/kserve_error.h"

namespace nereid::server::kserve {
namespace {

net::Response done() {
  return net::json_response(200, "");
}

// A repository's name in the path has no meaning here, as it never had.
Status check_repository(const net::Request& request) {
  if (net::find_value(request.parameters, "repository") == nullptr) return Status::ok();
  return unsupported("'repository_name' specification is not supported");
}

Result<LoadOverride> read_override(const std::string& body) {
  LoadOverride out;
  if (body.empty()) return out;
  NEREID_TRY(const JsonDocument document, JsonDocument::parse(body));
  const auto parameters = document.root().find("parameters");
  if (!parameters) return out;
  for (auto one = parameters->first(); parameters->is_object() && one; one = one->next(*parameters)) {
    const std::string_view name = one->text();
    const JsonValue value = one->named();
    const bool is_file = name.starts_with("file:");
    if (name != "config" && !is_file)
      return invalid_argument("unrecognized load parameter '{}'; there are 'config' and 'file:PATH'", name);
    if (!value.is_string()) return internal("attempt to access JSON non-string as string");
    if (!is_file) {
      out.config = value.text();
      continue;
    }
    std::optional<std::string> bytes = decode_base64(value.text());
    if (!bytes) return invalid_argument("the parameter '{}' is not in base64", name);
    out.files[std::string(name.substr(5))] = std::move(*bytes);
  }
  return out;
}

}  // namespace

net::Response repository_index(const Service& service, const net::Request& request) {
  if (const Status status = check_repository(request); !status.is_ok()) return error_response(status);
  bool ready_only = false;
  if (!request.body.empty()) {
    const auto document = JsonDocument::parse(request.body);
    if (!document.is_ok()) return error_response(document.status());
    if (const auto flag = document->root().find("ready")) {
      if (!flag->is_bool()) return error_response(wrong_kind("ready", "non-boolean", "boolean"));
      ready_only = flag->boolean();
    }
  }
  std::string body = "[";
  for (const IndexRow& row : service.models->index(ready_only)) {
    body += body.size() > 1 ? ",{\"name\":" : "{\"name\":";
    append_text(&body, row.name);
    if (!row.version.empty()) {
      body += ",\"version\":";
      append_text(&body, row.version);
      body += ",\"state\":";
      append_text(&body, model_state_name(row.state));
    }
    if (!row.reason.empty()) {
      body += ",\"reason\":";
      append_text(&body, row.reason);
    }
    body += '}';
  }
  return net::json_response(200, body + "]");
}

net::Response model_load(const Service& service, const net::Request& request) {
  if (const Status status = check_repository(request); !status.is_ok()) return error_response(status);
  const Result<LoadOverride> instead = read_override(request.body);
  if (!instead.is_ok()) return error_response(instead.status());
  const Status status = service.models->load(*net::find_value(request.parameters, "model"), *instead);
  return status.is_ok() ? done() : error_response(status);
}

net::Response model_unload(const Service& service, const net::Request& request) {
  if (const Status status = check_repository(request); !status.is_ok()) return error_response(status);
  bool with_dependents = false;
  // A body that cannot be read asks for nothing, as it always did.
  if (const auto document = JsonDocument::parse(request.body); document.is_ok())
    if (const auto parameters = document->root().find("parameters"))
      if (const auto flag = parameters->find("unload_dependents")) with_dependents = flag->boolean();
  const Status status = service.models->unload(*net::find_value(request.parameters, "model"), with_dependents);
  return status.is_ok() ? done() : error_response(status);
}

}  // namespace nereid::server::kserve
