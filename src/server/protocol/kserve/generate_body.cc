// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve/generate_body.h"

#include <map>

#include "server/protocol/kserve/json_reader.h"
#include "server/protocol/kserve/json_tensor.h"
#include "server/protocol/kserve/json_writer.h"

namespace nereid::server::kserve {
namespace {

const TensorConfig* find_input(const ModelConfig& config, std::string_view name) {
  for (const TensorConfig& input : config.inputs)
    if (input.name == name) return &input;
  return nullptr;
}

// The innermost open size takes what the fixed ones leave of the elements; other open sizes are 1.
std::vector<int64_t> shape_for(const ModelConfig& config, const TensorConfig& input, int64_t elements) {
  std::vector<int64_t> shape = input.dims;
  if (config.max_batch_size > 0) shape.insert(shape.begin(), -1);
  int64_t fixed = 1;
  for (const int64_t size : shape)
    if (size > 0 && __builtin_mul_overflow(fixed, size, &fixed)) fixed = INT64_MAX;
  int64_t rest = fixed > 0 ? elements / fixed : 0;
  for (auto size = shape.rbegin(); size != shape.rend(); ++size)
    if (*size == -1) *size = std::exchange(rest, 1);
  return shape;
}

Status take_parameter(std::string_view name, const JsonValue& value, InferRequest* request) {
  const std::string key(name);
  if (value.is_bool()) {
    request->parameters.emplace_back(key, value.boolean());
  } else if (value.is_string()) {
    request->parameters.emplace_back(key, std::string(value.text()));
  } else if (const auto number = value.as_int()) {
    request->parameters.emplace_back(key, *number);
  } else if (value.is_number()) {
    request->parameters.emplace_back(key, value.number());
  } else {
    return invalid_argument("parameter '{}' has invalid type. It should be either 'int', 'bool', or 'string'.", name);
  }
  return Status::ok();
}

Status take_member(std::string_view name, const JsonValue& value, const ModelConfig& config, InferRequest* request) {
  const TensorConfig* input = find_input(config, name);
  if (input != nullptr) {
    int64_t elements = 0;
    NEREID_TRY(std::string bytes, read_values(value, input->type, &elements));
    request->inputs.push_back(
        tensor_of(input->name, input->type, shape_for(config, *input, elements), std::move(bytes)));
    return Status::ok();
  }
  if (name == "id") {
    if (!value.is_string()) return wrong_kind("id", "non-string", "string");
    request->id = value.text();
    return Status::ok();
  }
  return take_parameter(name, value, request);
}

}  // namespace

Result<InferRequest> read_generate_body(std::string_view body, const ModelConfig& config) {
  constexpr size_t kMostBytes = size_t{64} << 20;
  if (body.size() > kMostBytes)
    return invalid_argument("the request is {} bytes long, and may be {}", body.size(), kMostBytes);
  NEREID_TRY(const JsonDocument document, JsonDocument::parse(body));
  const JsonValue root = document.root();
  if (!root.is_object()) return wrong_kind("request", "non-object", "object");
  InferRequest request;
  for (auto one = root.first(); one; one = one->next(root)) {
    const JsonValue value = one->named();
    if (one->text() != "parameters" || !value.is_object()) {
      NEREID_RETURN_IF_ERROR(take_member(one->text(), value, config, &request));
      continue;
    }
    for (auto inner = value.first(); inner; inner = inner->next(value))
      NEREID_RETURN_IF_ERROR(take_member(inner->text(), inner->named(), config, &request));
  }
  return request;
}

std::string generate_answer(const InferModel& model, std::string_view id, const InferResponse& response) {
  std::map<std::string, std::string> members;
  const auto add_text = [&](std::string name, std::string_view text) { append_text(&members[std::move(name)], text); };
  add_text("model_name", model.config().name);
  add_text("model_version", std::to_string(model.version()));
  if (!id.empty()) add_text("id", id);
  for (const auto& [name, value] : response.parameters) {
    std::string text;
    append_parameter(&text, value);
    members[name] = std::move(text);
  }
  for (const InferTensor& output : response.outputs) {
    std::string text;
    append_elements(&text, output);
    members[output.name] = element_count(output.shape) == 1 ? std::move(text) : "[" + text + "]";
  }
  std::string body = "{";
  for (const auto& [name, text] : members) {
    if (body.size() > 1) body += ',';
    append_text(&body, name);
    body += ":" + text;
  }
  return body + "}";
}

}  // namespace nereid::server::kserve
