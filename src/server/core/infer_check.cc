// SPDX-License-Identifier: Apache-2.0
#include "server/core/infer_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace nereid::server {
namespace {

constexpr std::string_view kBatchNote =
    "NOTE: Setting a non-zero max_batch_size in the model config requires a batch dimension to be prepended to each "
    "input shape. If you want to specify the full shape including the batch dim in your input dims config, try setting "
    "max_batch_size to zero. See the model configuration docs for more info on max_batch_size.";

std::string quoted_names(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += fmt::format("{}'{}'", out.empty() ? "" : ",", name);
  return out;
}

std::vector<int64_t> whole_dims(const ModelConfig& config, const TensorConfig& tensor) {
  std::vector<int64_t> dims;
  if (config.max_batch_size > 0 && !tensor.is_shape_tensor) dims.push_back(-1);
  dims.insert(dims.end(), tensor.dims.begin(), tensor.dims.end());
  return dims;
}

const InferTensor* find_input(const InferRequest& request, std::string_view name) {
  for (const InferTensor& input : request.inputs)
    if (input.name == name) return &input;
  return nullptr;
}

// As many inputs as the model takes, none twice.
Status check_names(const ModelConfig& config, const InferRequest& request, const std::string& mark) {
  std::vector<std::string> got;
  for (const InferTensor& input : request.inputs) got.push_back(input.name);
  std::sort(got.begin(), got.end());
  if (const auto twice = std::adjacent_find(got.begin(), got.end()); twice != got.end())
    return invalid_argument("{}input '{}' already exists in request", mark, *twice);
  std::vector<std::string> missing;
  size_t least = 0;
  for (const TensorConfig& input : config.inputs) {
    least += input.is_optional ? 0 : 1;
    if (!input.is_optional && find_input(request, input.name) == nullptr) missing.push_back(input.name);
  }
  if (got.size() < least || got.size() > config.inputs.size()) {
    const std::string expected = least == config.inputs.size()
                                     ? fmt::format("expected {} inputs but got {} inputs", least, got.size())
                                     : fmt::format("expected number of inputs between {} and {} but got {} inputs",
                                                   least, config.inputs.size(), got.size());
    // The bracket that is missing where nothing is, is what clients have always been sent.
    return invalid_argument(
        "{}{} for model '{}'. Got input(s) [{}], but missing required input(s) {}]. Please provide all required "
        "input(s).",
        mark, expected, config.name, quoted_names(got), missing.empty() ? "" : "[" + quoted_names(missing));
  }
  return Status::ok();
}

Status check_batch(const ModelConfig& config, const InferRequest& request, const std::string& mark, int64_t* batch) {
  *batch = 1;
  if (config.max_batch_size <= 0) return Status::ok();
  bool is_first = true;
  for (const TensorConfig& input : config.inputs) {
    const InferTensor* tensor = find_input(request, input.name);
    if (tensor == nullptr || input.is_shape_tensor) continue;
    if (tensor->shape.empty())
      return invalid_argument("{}input '{}' has no shape but model requires batch dimension for '{}'", mark, input.name,
                              config.name);
    if (!is_first && tensor->shape[0] != *batch)
      return invalid_argument("{}input '{}' batch size does not match other inputs for '{}'", mark, input.name,
                              config.name);
    *batch = tensor->shape[0];
    is_first = false;
  }
  if (*batch > config.max_batch_size)
    return invalid_argument("{}inference request batch-size must be <= {} for '{}'", mark, config.max_batch_size,
                            config.name);
  return Status::ok();
}

Status check_tensor(const ModelConfig& config, const TensorConfig& want, const InferTensor& have,
                    const std::string& mark) {
  if (have.type != want.type)
    return invalid_argument("{}inference input '{}' data-type is '{}', but model '{}' expects '{}'", mark, have.name,
                            infer_type_name(have.type), config.name, infer_type_name(want.type));
  const std::vector<int64_t> dims = whole_dims(config, want);
  if (!shape_fits(dims, have.shape))
    return invalid_argument("{}unexpected shape for input '{}' for model '{}'. Expected {}, got {}. {}", mark,
                            have.name, config.name, shape_text(dims), shape_text(have.shape),
                            config.max_batch_size > 0 ? kBatchNote : std::string_view());
  const int64_t elements = element_count(have.shape);
  if (elements < 0)
    return invalid_argument("{}the shape {} of input '{}' for model '{}' has too many elements", mark,
                            shape_text(have.shape), have.name, config.name);
  if (have.type == InferType::kBytes) return check_texts(have.name, config.name, have.bytes, elements, mark);
  // A batch of none counts as one, as it always did.
  const bool is_empty_batch = config.max_batch_size > 0 && !have.shape.empty() && have.shape[0] == 0;
  const int64_t counted = is_empty_batch ? element_count(std::span(have.shape).subspan(1)) : elements;
  const int64_t expected = counted * infer_type_info(have.type).bytes;
  if (expected != static_cast<int64_t>(have.bytes.size()))
    return invalid_argument("{}input byte size mismatch for input '{}' for model '{}'. Expected {}, got {}", mark,
                            have.name, config.name, expected, have.bytes.size());
  return Status::ok();
}

}  // namespace

int64_t element_count(std::span<const int64_t> shape) {
  int64_t n = 1;
  for (const int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(n, size, &n)) return -1;
  return n > (int64_t{1} << 56) ? -1 : n;  // times the widest element it must fit as well
}

std::string shape_text(std::span<const int64_t> shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) out += (i == 0 ? "" : ",") + std::to_string(shape[i]);
  return out + "]";
}

Status check_sequence_name(const SequenceMark& mark) {
  constexpr size_t kMostBytes = 128;
  if (mark.text_id.size() <= kMostBytes) return Status::ok();
  return unsupported("string correlation ID cannot be longer than {} characters", kMostBytes);
}

std::string request_mark(std::string_view id) {
  return fmt::format("[request id: {}] ", id.empty() ? "<id_unknown>" : id);
}

bool shape_fits(std::span<const int64_t> want, std::span<const int64_t> have) {
  return std::equal(want.begin(), want.end(), have.begin(), have.end(),
                    [](int64_t w, int64_t h) { return w == -1 ? h >= 0 : w == h; });
}

Status check_texts(std::string_view input, std::string_view model, std::span<const std::byte> bytes, int64_t elements,
                   std::string_view mark) {
  int64_t count = 0;
  for (size_t at = 0; at < bytes.size(); ++count) {
    uint32_t length = 0;
    if (bytes.size() - at < sizeof length)
      return invalid_argument(
          "{}incomplete string length indicator for inference input '{}' for model '{}', expecting 4 bytes but only {} "
          "bytes available",
          mark, input, model, bytes.size() - at);
    std::memcpy(&length, bytes.data() + at, sizeof length);
    at += sizeof length;
    if (bytes.size() - at < length)
      return invalid_argument(
          "incomplete string data for inference input '{}', expecting string of length {} but only {} bytes available",
          input, length, bytes.size() - at);
    at += length;
  }
  if (count != elements)
    return invalid_argument("{}expected {} string elements for inference input '{}' for model '{}', got {}", mark,
                            elements, input, model, count);
  return Status::ok();
}

Status check_request(const ModelConfig& config, InferRequest* request, int64_t* batch) {
  const std::string mark = request_mark(request->id);
  NEREID_RETURN_IF_ERROR(check_names(config, *request, mark));
  for (const InferTensor& input : request->inputs) {
    const auto named = [&](const TensorConfig& one) { return one.name == input.name; };
    if (std::none_of(config.inputs.begin(), config.inputs.end(), named))
      return invalid_argument("unexpected inference input '{}' for model '{}'", input.name, config.name);
  }
  for (const std::string& output : request->outputs) {
    const auto named = [&](const TensorConfig& one) { return one.name == output; };
    if (std::none_of(config.outputs.begin(), config.outputs.end(), named))
      return invalid_argument("unexpected inference output '{}' for model '{}'", output, config.name);
  }
  NEREID_RETURN_IF_ERROR(check_batch(config, *request, mark, batch));
  std::vector<InferTensor> ordered;
  ordered.reserve(request->inputs.size());
  for (const TensorConfig& want : config.inputs)
    for (InferTensor& have : request->inputs) {
      if (have.name != want.name) continue;
      NEREID_RETURN_IF_ERROR(check_tensor(config, want, have, mark));
      ordered.push_back(std::move(have));
      break;
    }
  request->inputs = std::move(ordered);
  return Status::ok();
}

}  // namespace nereid::server
