// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve/endpoints/handlers.h"
#include "server/protocol/kserve/extensions.h"
#include "server/protocol/kserve/json_writer.h"
#include "server/protocol/kserve/kserve_error.h"

namespace nereid::server::kserve {
namespace {

void append_tensors(std::string* out, std::string_view name, const std::vector<TensorConfig>& tensors, bool has_batch) {
  *out += ",\"";
  *out += name;
  *out += "\":[";
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::vector<int64_t> shape = tensors[i].dims;
    if (has_batch && !tensors[i].is_shape_tensor) shape.insert(shape.begin(), -1);
    *out += i > 0 ? ",{\"name\":" : "{\"name\":";
    append_text(out, tensors[i].name);
    *out += ",\"datatype\":";
    append_text(out, infer_type_name(tensors[i].type));
    *out += ",\"shape\":";
    append_shape(out, shape);
    *out += '}';
  }
  *out += ']';
}

}  // namespace

net::Response server_metadata(const Service& service, const net::Request&) {
  std::string body = "{\"name\":";
  append_text(&body, service.server_name);
  body += ",\"version\":";
  append_text(&body, service.version);
  body += ",\"extensions\":[";
  for (const std::string_view one : extensions()) {
    if (!body.ends_with('[')) body += ',';
    append_text(&body, one);
  }
  return net::json_response(200, body + "]}");
}

net::Response model_metadata(const Service& service, const net::Request& request) {
  const auto model = find_model(service, request);
  if (!model.is_ok()) return error_response(model.status());
  const ModelConfig& config = (*model)->config();
  std::string body = "{\"name\":";
  append_text(&body, config.name);
  body += ",\"versions\":[";
  if (net::find_value(request.parameters, "version") != nullptr) {
    append_text(&body, std::to_string((*model)->version()));
  } else {
    bool is_first = true;
    for (const auto& one : service.models->ready(config.name)) {
      if (!is_first) body += ',';
      is_first = false;
      append_text(&body, std::to_string(one->version()));
    }
  }
  body += "],\"platform\":";
  append_text(&body, config.platform.empty() ? config.backend : config.platform);
  append_tensors(&body, "inputs", config.inputs, config.max_batch_size > 0);
  append_tensors(&body, "outputs", config.outputs, config.max_batch_size > 0);
  return net::json_response(200, body + "}");
}

net::Response model_config(const Service& service, const net::Request& request) {
  const auto model = find_model(service, request);
  if (!model.is_ok()) return error_response(model.status());
  return net::json_response(200, (*model)->config_json());
}

}  // namespace nereid::server::kserve
