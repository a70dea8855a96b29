// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve/infer_answer.h"

#include "server/protocol/kserve/classification.h"
#include "server/protocol/kserve/json_writer.h"
#include "server/protocol/kserve/kserve_error.h"

namespace nereid::server::kserve {
namespace {

constexpr std::string_view kHeaderLength = "Inference-Header-Content-Length";

const WantedOutput* wanted(const AnswerShape& shape, std::string_view name) {
  for (const WantedOutput& one : shape.outputs)
    if (one.name == name) return &one;
  return nullptr;
}

void append_member(std::string* out, std::string_view name, std::string_view text) {
  if (out->size() > 1) *out += ',';
  append_text(out, name);
  *out += ':';
  append_text(out, text);
}

void append_output(std::string* out, const InferTensor& tensor, bool is_binary, const WantedOutput* want) {
  *out += "{\"name\":";
  append_text(out, tensor.name);
  *out += ",\"datatype\":";
  append_text(out, infer_type_name(tensor.type));
  *out += ",\"shape\":";
  append_shape(out, tensor.shape);
  if (want != nullptr && !want->region.empty()) {
    *out += '}';
    return;
  }
  if (is_binary) {
    *out += ",\"parameters\":{\"binary_data_size\":" + std::to_string(tensor.bytes.size()) + "}}";
    return;
  }
  *out += ",\"data\":[";
  append_elements(out, tensor);
  *out += "]}";
}

}  // namespace

net::Response infer_response(const InferModel& model, const AnswerShape& shape, const SharedMemory& shared,
                             InferResponse&& response) {
  if (!response.status.is_ok()) return error_response(response.status);
  std::string body = "{";
  if (!shape.id.empty()) append_member(&body, "id", shape.id);
  append_member(&body, "model_name", model.config().name);
  append_member(&body, "model_version", std::to_string(model.version()));
  if (!response.parameters.empty()) {
    body += ",\"parameters\":{";
    for (size_t i = 0; i < response.parameters.size(); ++i) {
      if (i > 0) body += ',';
      append_text(&body, response.parameters[i].first);
      body += ':';
      append_parameter(&body, response.parameters[i].second);
    }
    body += '}';
  }
  body += ",\"outputs\":[";
  std::vector<const InferTensor*> raw;
  bool is_first = true;
  for (InferTensor& tensor : response.outputs) {
    const WantedOutput* want = wanted(shape, tensor.name);
    if (want != nullptr && want->classes > 0) {
      auto classes = classify(tensor, want->classes, model.config().max_batch_size > 0, model.labels(tensor.name));
      if (!classes.is_ok()) return error_response(classes.status());
      tensor = std::move(*classes);
    }
    const bool is_shared = want != nullptr && !want->region.empty();
    if (is_shared) {
      if (tensor.bytes.size() > want->bytes)
        return error_response(internal(
            "shared memory size specified with the request for output '{}' ({} bytes) should be at least {} bytes "
            "to hold the results",
            tensor.name, want->bytes, tensor.bytes.size()));
      const Status written = shared.write(want->region, want->offset, tensor.bytes);
      if (!written.is_ok()) return error_response(written);
    }
    const bool is_binary = !is_shared && (shape.binary_by_default || (want != nullptr && want->is_binary));
    if (!is_first) body += ',';
    is_first = false;
    append_output(&body, tensor, is_binary, want);
    if (is_binary) raw.push_back(&tensor);
  }
  body += "]}";
  net::Response out{.status = 200, .headers = {}, .body = {}};
  if (!raw.empty()) {
    out.headers.add(std::string(kHeaderLength), std::to_string(body.size()));
    for (const InferTensor* tensor : raw)
      out.parts.push_back({.bytes = {reinterpret_cast<const char*>(tensor->bytes.data()), tensor->bytes.size()},
                           .owner = tensor->owner});
  }
  out.headers.add("Content-Type", raw.empty() ? "application/json" : "application/octet-stream");
  out.body = std::move(body);
  return out;
}

}  // namespace nereid::server::kserve
