// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve/endpoints/handlers.h"
#include "server/protocol/kserve/json_reader.h"
#include "server/protocol/kserve/json_writer.h"
#include "server/protocol/kserve/kserve_error.h"

namespace nereid::server::kserve {
namespace {

// "" where the path names none. kInvalidArgument: no such model.
Result<std::string> model_of(const Service& service, const net::Request& request) {
  const std::string* name = net::find_value(request.parameters, "model");
  if (name == nullptr) return std::string();
  if (!service.models->find(*name, -1).is_ok()) return invalid_argument("Request for unknown model : {}", *name);
  return *name;
}

Result<TraceChange> read_change(std::string_view name, const JsonValue& value) {
  TraceChange change{std::string(name), std::nullopt};
  if (value.kind() == JsonKind::kNull) return change;
  change.second.emplace();
  if (name != "trace_level") {
    if (!value.is_string()) return wrong_json("non-string", "string");
    change.second->emplace_back(value.text());
    return change;
  }
  if (!value.is_array()) return wrong_json("non-array", "array");
  for (auto one = value.first(); one; one = one->next(value)) {
    if (!one->is_string()) return wrong_json("non-string", "string");
    change.second->emplace_back(one->text());
  }
  return change;
}

Status change_settings(const Service& service, const std::string& model, const std::string& body) {
  NEREID_TRY(const JsonDocument document, JsonDocument::parse(body));
  const JsonValue root = document.root();
  std::vector<TraceChange> changes;
  if (root.is_object())
    for (auto one = root.first(); one; one = one->next(root)) {
      NEREID_TRY(TraceChange change, read_change(one->text(), one->named()));
      changes.push_back(std::move(change));
    }
  return service.tracer->change(model, changes);
}

std::string settings_text(const Service& service, const std::string& model) {
  std::string body = "{";
  for (const auto& [name, values] : service.tracer->settings(model)) {
    if (body.size() > 1) body += ',';
    append_text(&body, name);
    body += ':';
    if (name != "trace_level") {
      append_text(&body, values.front());
      continue;
    }
    body += '[';
    for (const std::string& value : values) {
      if (!body.ends_with('[')) body += ',';
      append_text(&body, value);
    }
    body += ']';
  }
  return body + "}";
}

}  // namespace

net::Response trace_settings(const Service& service, const net::Request& request) {
  const Result<std::string> model = model_of(service, request);
  if (!model.is_ok()) return error_response(model.status());
  return net::json_response(200, settings_text(service, *model));
}

net::Response change_trace_settings(const Service& service, const net::Request& request) {
  const Result<std::string> model = model_of(service, request);
  if (!model.is_ok()) return error_response(model.status());
  if (const Status status = change_settings(service, *model, request.body); !status.is_ok())
    return error_response(status);
  return net::json_response(200, settings_text(service, *model));
}

}  // namespace nereid::server::kserve
