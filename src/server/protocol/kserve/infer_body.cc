// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve/infer_body.h"

#include <fmt/format.h>

#include <charconv>

#include "server/core/infer_check.h"
#include "server/protocol/kserve/json_reader.h"
#include "server/protocol/kserve/json_tensor.h"

namespace nereid::server::kserve {
namespace {

constexpr std::string_view kBinarySize = "binary_data_size";
constexpr std::string_view kRegion = "shared_memory_region";
// Of JSON, which takes several times its text when it is read; raw tensors are bounded by the body alone.
constexpr size_t kMostJsonBytes = size_t{64} << 20;

// The raw tensors behind the JSON, taken one after the other.
class RawParts {
 public:
  RawParts(std::shared_ptr<const std::string> body, size_t begin) : body_(std::move(body)), at_(begin) {}
  size_t left() const { return body_->size() - at_; }
  std::span<const std::byte> take(size_t bytes) {
    const auto part = std::as_bytes(std::span(body_->data() + at_, bytes));
    at_ += bytes;
    return part;
  }
  const std::shared_ptr<const std::string>& owner() const { return body_; }

 private:
  std::shared_ptr<const std::string> body_;
  size_t at_;
};

// The member of the object's "parameters".
std::optional<JsonValue> parameter(const JsonValue& object, std::string_view name) {
  const std::optional<JsonValue> parameters = object.find("parameters");
  return parameters ? parameters->find(name) : std::nullopt;
}

Status check_source(const JsonValue& input) {
  std::string set;
  int count = 0;
  const auto note = [&](bool is_set, std::string_view name) {
    if (!is_set) return;
    ++count;
    set += fmt::format(" '{}'", name);
  };
  note(input.find("data").has_value(), "data");
  note(parameter(input, kBinarySize).has_value(), kBinarySize);
  note(parameter(input, kRegion).has_value(), kRegion);
  if (count == 1) return Status::ok();
  return invalid_argument(
      "Input must set only one of the following fields: 'data', 'binary_data_size' in 'parameters', "
      "'shared_memory_region' in 'parameters'. But {}",
      count == 0 ? "no field is set" : "set" + set);
}

Result<std::vector<int64_t>> read_shape(const JsonValue& input) {
  NEREID_TRY(const JsonValue array, member_array(input, "shape"));
  std::vector<int64_t> shape;
  for (std::optional<JsonValue> one = array.first(); one; one = one->next(array)) {
    NEREID_TRY(const uint64_t size, value_uint("shape", *one));
    if (size > static_cast<uint64_t>(INT64_MAX)) return wrong_kind("shape", "non-unsigned-integer", "unsigned-integer");
    shape.push_back(static_cast<int64_t>(size));
  }
  return shape;
}

struct Place {
  std::string region;
  uint64_t offset = 0, bytes = 0;
};

// Where in shared memory the tensor lies or goes to; nothing: it does not.
Result<std::optional<Place>> read_place(const JsonValue& tensor) {
  const std::optional<JsonValue> region = parameter(tensor, kRegion);
  if (!region) return std::optional<Place>();
  Place place;
  if (!region->is_string()) return wrong_kind(kRegion, "non-string", "string");
  place.region = region->text();
  const std::optional<JsonValue> bytes = parameter(tensor, "shared_memory_byte_size");
  if (!bytes) return missing_member("shared_memory_byte_size");
  NEREID_TRY(place.bytes, value_uint("shared_memory_byte_size", *bytes));
  if (const std::optional<JsonValue> offset = parameter(tensor, "shared_memory_offset")) {
    NEREID_TRY(place.offset, value_uint("shared_memory_offset", *offset));
  }
  return std::optional<Place>(std::move(place));
}

Result<InferTensor> read_input(const JsonValue& input, const ModelConfig& config, const SharedMemory& shared,
                               RawParts* raw) {
  NEREID_RETURN_IF_ERROR(check_source(input));
  InferTensor tensor;
  NEREID_TRY(const std::string_view name, member_text(input, "name"));
  tensor.name = name;
  NEREID_TRY(tensor.shape, read_shape(input));
  NEREID_TRY(const std::string_view datatype, member_text(input, "datatype"));
  const std::optional<InferType> type = infer_type_from_name(datatype);
  if (!type) return invalid_argument("invalid datatype for input {}", name);
  tensor.type = *type;
  NEREID_TRY(const std::optional<Place> place, read_place(input));
  if (place) {
    NEREID_TRY(std::string bytes, shared.read(place->region, place->offset, place->bytes));
    return tensor_of(std::move(tensor.name), *type, std::move(tensor.shape), std::move(bytes));
  }
  if (const std::optional<JsonValue> size = parameter(input, kBinarySize)) {
    NEREID_TRY(const uint64_t bytes, value_uint(kBinarySize, *size));
    if (bytes > raw->left())
      return invalid_argument("unexpected size for input '{}', expecting {} additional bytes for model '{}'", name,
                              bytes - raw->left(), config.name);
    tensor.bytes = raw->take(bytes);
    tensor.owner = raw->owner();
    return tensor;
  }
  NEREID_TRY(std::string bytes, read_elements(*input.find("data"), *type, element_count(tensor.shape)));
  return tensor_of(std::move(tensor.name), *type, std::move(tensor.shape), std::move(bytes));
}

Result<WantedOutput> read_output(const JsonValue& output) {
  WantedOutput wanted;
  NEREID_TRY(const std::string_view name, member_text(output, "name"));
  wanted.name = name;
  if (const auto binary = parameter(output, "binary_data")) {
    if (!binary->is_bool()) return wrong_kind("binary_data", "non-boolean", "boolean");
    wanted.is_binary = binary->boolean();
  }
  if (const auto classes = parameter(output, "classification")) {
    NEREID_TRY(wanted.classes, value_uint("classification", *classes));
  }
  NEREID_TRY(const std::optional<Place> place, read_place(output));
  if (place) {
    if (wanted.is_binary || wanted.classes > 0)
      return invalid_argument("Output can't set both 'shared_memory_region' and '{}'",
                              wanted.is_binary ? "binary_data" : "classification");
    wanted.region = place->region, wanted.offset = place->offset, wanted.bytes = place->bytes;
  }
  return wanted;
}

Result<InferParameter> read_parameter(std::string_view name, const JsonValue& value) {
  if (value.is_bool()) return InferParameter(value.boolean());
  if (value.is_string()) return InferParameter(std::string(value.text()));
  if (const auto number = value.as_int()) return InferParameter(*number);
  if (value.is_number()) return InferParameter(value.number());
  return invalid_argument("parameter '{}' has invalid type. It should be either 'int', 'bool', or 'string'.", name);
}

Status read_parameters(const JsonValue& parameters, InferBody* body) {
  InferRequest& request = body->request;
  const auto flag = [](std::string_view name, const JsonValue& value, bool* out) -> Status {
    if (!value.is_bool()) return wrong_kind(name, "non-boolean", "boolean");
    *out = value.boolean();
    return Status::ok();
  };
  for (std::optional<JsonValue> one = parameters.first(); one; one = one->next(parameters)) {
    const std::string_view name = one->text();
    const JsonValue value = one->named();
    if (name == "sequence_id") {
      if (value.is_string()) {
        request.sequence.text_id = value.text();
        NEREID_RETURN_IF_ERROR(check_sequence_name(request.sequence));
      } else if (const auto number = value_uint(name, value); number.is_ok()) {
        request.sequence.id = *number;
      } else {
        return wrong_kind(name, "non-string", "string");
      }
    } else if (name == "sequence_start") {
      NEREID_RETURN_IF_ERROR(flag(name, value, &request.sequence.is_start));
    } else if (name == "sequence_end") {
      NEREID_RETURN_IF_ERROR(flag(name, value, &request.sequence.is_end));
    } else if (name == "priority") {
      NEREID_TRY(request.priority, value_uint(name, value));
    } else if (name == "timeout") {
      NEREID_TRY(request.timeout_us, value_uint(name, value));
    } else if (name == "binary_data_output") {
      NEREID_RETURN_IF_ERROR(flag(name, value, &body->binary_by_default));
    } else if (name.starts_with("triton_")) {
      return invalid_argument(
          "parameter keys starting with 'triton_' are reserved for Triton usage and should not be specified.");
    } else {
      NEREID_TRY(InferParameter parameter, read_parameter(name, value));
      request.parameters.emplace_back(std::string(name), std::move(parameter));
    }
  }
  return Status::ok();
}

// The whole body is the model's one input.
Result<InferBody> read_raw(std::shared_ptr<const std::string> body, const ModelConfig& config) {
  if (config.inputs.size() != 1)
    return invalid_argument(
        "Raw request must only have 1 input (found {}) to be deduced but got {} inputs in '{}' model configuration", 1,
        config.inputs.size(), config.name);
  const TensorConfig& input = config.inputs[0];
  std::vector<int64_t> shape = input.dims;
  int64_t elements = 1;
  std::optional<size_t> open;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != -1) {
      elements *= shape[i];
    } else if (open) {
      return invalid_argument(
          "The shape of the raw input '{}' can not be deduced because there are more than one variable-sized dimension",
          input.name);
    } else {
      open = i;
    }
  }
  const auto width = static_cast<int64_t>(infer_type_info(input.type).bytes);
  std::string text;
  if (input.type == InferType::kBytes) {
    if (open ? elements != 1 : elements != 1)
      return invalid_argument("For BYTE datatype raw input '{}', the model must have input shape [1]", input.name);
    if (open) shape[*open] = 1;
    const auto length = static_cast<uint32_t>(body->size());
    text.append(reinterpret_cast<const char*>(&length), sizeof length);
    text += *body;
  } else if (open) {
    const int64_t step = elements * width;
    if (step == 0 || static_cast<int64_t>(body->size()) % step != 0)
      return invalid_argument("The shape of the raw input '{}' can not be deduced: {} bytes are no multiple of {}",
                              input.name, body->size(), step);
    shape[*open] = static_cast<int64_t>(body->size()) / step;
  } else if (elements * width != static_cast<int64_t>(body->size())) {
    return invalid_argument(
        "[request id: <id_unknown>] input byte size mismatch for input 'raw_input' for model '{}'. Expected {}, got {}",
        config.name, elements * width, body->size());
  }
  if (config.max_batch_size > 0) shape.insert(shape.begin(), 1);
  InferBody out;
  out.binary_by_default = true;
  if (!text.empty()) {
    out.request.inputs.push_back(tensor_of(input.name, input.type, std::move(shape), std::move(text)));
  } else {
    const auto bytes = std::as_bytes(std::span(body->data(), body->size()));
    out.request.inputs.push_back({input.name, input.type, std::move(shape), bytes, std::move(body)});
  }
  return out;
}

}  // namespace

Result<InferBody> read_infer_body(std::shared_ptr<const std::string> body, std::optional<std::string_view> json_bytes,
                                  const ModelConfig& config, const SharedMemory& shared) {
  size_t length = body->size();
  if (json_bytes) {
    int64_t said = 0;
    const auto [end, error] = std::from_chars(json_bytes->data(), json_bytes->data() + json_bytes->size(), said);
    if (error != std::errc() || end != json_bytes->data() + json_bytes->size())
      return invalid_argument("Inference-Header-Content-Length is the number of bytes of JSON, found '{}'",
                              *json_bytes);
    if (said < 0 || (said > 0 && static_cast<uint64_t>(said) > body->size()))
      return invalid_argument("inference header size should be in range (0, {}), got: {}", body->size(), *json_bytes);
    length = static_cast<size_t>(said);
  }
  if (length == 0) return read_raw(std::move(body), config);
  if (length > kMostJsonBytes)
    return invalid_argument("the JSON of a request is {} bytes long, and may be {}; send tensors as binary data",
                            length, kMostJsonBytes);
  NEREID_TRY(const JsonDocument document, JsonDocument::parse(std::string_view(*body).substr(0, length)));
  RawParts raw(body, length);
  const JsonValue root = document.root();
  InferBody out;
  if (const auto id = root.find("id")) {
    if (!id->is_string()) return wrong_kind("id", "non-string", "string");
    out.request.id = id->text();
  }
  if (const auto parameters = root.find("parameters")) {
    if (!parameters->is_object()) return wrong_kind("parameters", "non-object", "object");
    NEREID_RETURN_IF_ERROR(read_parameters(*parameters, &out));
  }
  NEREID_TRY(const JsonValue inputs, member_array(root, "inputs"));
  for (std::optional<JsonValue> one = inputs.first(); one; one = one->next(inputs)) {
    NEREID_TRY(InferTensor tensor, read_input(*one, config, shared, &raw));
    out.request.inputs.push_back(std::move(tensor));
  }
  if (raw.left() > 0) return invalid_argument("unexpected additional input data for model '{}'", config.name);
  if (const auto outputs = root.find("outputs")) {
    if (!outputs->is_array()) return wrong_kind("outputs", "non-array", "array");
    for (std::optional<JsonValue> one = outputs->first(); one; one = one->next(*outputs)) {
      NEREID_TRY(WantedOutput wanted, read_output(*one));
      for (const WantedOutput& other : out.outputs)
        if (other.name == wanted.name)
          return invalid_argument("[request id: {}] output '{}' already requested",
                                  out.request.id.empty() ? "<id_unknown>" : out.request.id, wanted.name);
      out.request.outputs.push_back(wanted.name);
      out.outputs.push_back(std::move(wanted));
    }
  }
  return out;
}

}  // namespace nereid::server::kserve
