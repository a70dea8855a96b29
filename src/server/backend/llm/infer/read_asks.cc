// SPDX-License-Identifier: Apache-2.0
#include "server/backend/llm/infer/read_asks.h"

#include <algorithm>
#include <cstring>

#include "server/backend/llm/infer/ask_names.h"

namespace nereid::server {
namespace {

constexpr size_t kMostPrompts = 1024;

template <typename T, typename As>
void append_numbers(std::span<const std::byte> bytes, std::vector<InferParameter>* values) {
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T value{};
    std::memcpy(&value, bytes.data() + at, sizeof value);
    values->emplace_back(static_cast<As>(value));
  }
}

// All elements; texts were checked when the request was taken.
std::vector<InferParameter> values_of(const InferTensor& tensor) {
  std::vector<InferParameter> values;
  switch (tensor.type) {
    case InferType::kBool:
      for (const std::byte one : tensor.bytes) values.emplace_back(one != std::byte{0});
      break;
    case InferType::kInt8:
      append_numbers<int8_t, int64_t>(tensor.bytes, &values);
      break;
    case InferType::kUint8:
      append_numbers<uint8_t, int64_t>(tensor.bytes, &values);
      break;
    case InferType::kInt16:
      append_numbers<int16_t, int64_t>(tensor.bytes, &values);
      break;
    case InferType::kUint16:
      append_numbers<uint16_t, int64_t>(tensor.bytes, &values);
      break;
    case InferType::kInt32:
      append_numbers<int32_t, int64_t>(tensor.bytes, &values);
      break;
    case InferType::kUint32:
      append_numbers<uint32_t, int64_t>(tensor.bytes, &values);
      break;
    case InferType::kInt64:
      append_numbers<int64_t, int64_t>(tensor.bytes, &values);
      break;
    case InferType::kUint64:
      append_numbers<uint64_t, int64_t>(tensor.bytes, &values);
      break;
    case InferType::kFp32:
      append_numbers<float, double>(tensor.bytes, &values);
      break;
    case InferType::kFp64:
      append_numbers<double, double>(tensor.bytes, &values);
      break;
    case InferType::kBytes:
      for (size_t at = 0; at + 4 <= tensor.bytes.size();) {
        uint32_t length = 0;
        std::memcpy(&length, tensor.bytes.data() + at, sizeof length);
        at += sizeof length;
        values.emplace_back(std::string(reinterpret_cast<const char*>(tensor.bytes.data() + at), length));
        at += length;
      }
      break;
    default:  // FP16 and BF16: nothing that is asked for comes in them but what is refused
      values.emplace_back(std::string("a tensor of ") + std::string(infer_type_name(tensor.type)));
  }
  return values;
}

const InferTensor* find_input(const InferRequest& request, std::string_view name) {
  for (const InferTensor& input : request.inputs)
    if (input.name == name) return &input;
  return nullptr;
}

// One for each prompt where the first dimension says so; else all of them for all.
AskValues row_of(const InferTensor& tensor, AskValues all, size_t prompt, size_t prompts) {
  if (prompts <= 1 || tensor.shape.empty() || tensor.shape[0] != static_cast<int64_t>(prompts)) return all;
  const size_t size = all.size() / prompts;
  return all.subspan(prompt * size, size);
}

Status named(const Status& status, std::string_view name, const std::string& model) {
  if (status.is_ok()) return status;
  return Status(status.code(),
                fmt::format("{} (input or parameter '{}' of the model '{}')", status.message(), name, model));
}

}  // namespace

Result<std::vector<Ask>> read_asks(const InferRequest& request, const ModelConfig& config, const TextModel& model,
                                   AskStyle style) {
  const InferTensor* text = find_input(request, "text_input");
  const InferTensor* ids = find_input(request, "input_ids");
  if (text == nullptr && ids == nullptr) {
    const InferTensor* stop = find_input(request, "stop");
    if (stop == nullptr)
      return invalid_argument("the request has neither 'text_input' nor 'input_ids', and the model '{}' needs a prompt",
                              config.name);
  }
  size_t prompts = 1;
  if (text != nullptr) {
    prompts = static_cast<size_t>(element_count(text->shape));
  } else if (ids != nullptr && (config.max_batch_size > 0 || ids->shape.size() > 1)) {
    prompts = static_cast<size_t>(ids->shape[0]);
  }
  if (prompts == 0 || prompts > kMostPrompts)
    return invalid_argument("a request has between 1 and {} prompts; this one for the model '{}' has {}", kMostPrompts,
                            config.name, prompts);
  std::vector<Ask> asks(prompts);
  for (Ask& ask : asks) ask.request.params.max_tokens = 0;
  // Parameters first: an input of the same name is nearer.
  for (const auto& [name, value] : request.parameters)
    for (Ask& ask : asks) {
      const Status status = take_named(name, {&value, 1}, &ask);
      // Others may be anybody's: forwarded headers, marks of the client's own.
      if (status.code() != StatusCode::kNotFound) NEREID_RETURN_IF_ERROR(named(status, name, config.name));
    }
  for (const InferTensor& input : request.inputs) {
    const std::vector<InferParameter> all = values_of(input);
    for (size_t i = 0; i < prompts; ++i) {
      // Each text is a prompt, however they are shaped.
      const AskValues row = &input == text ? AskValues(all).subspan(i, 1) : row_of(input, all, i, prompts);
      const Status status = take_named(input.name, row, &asks[i]);
      if (status.code() != StatusCode::kNotFound) NEREID_RETURN_IF_ERROR(named(status, input.name, config.name));
    }
  }
  const uint64_t level = config.dynamic_batching ? config.dynamic_batching->default_priority : 0;
  const uint64_t priority = request.priority == 0 ? level : request.priority;
  for (Ask& ask : asks) {
    if (ask.is_stop) continue;
    NEREID_RETURN_IF_ERROR(finish_ask(model, style, &ask));
    // There the least is served first.
    ask.request.priority = -static_cast<int32_t>(std::min<uint64_t>(priority, 1000));
    ask.request.timeout_us = static_cast<int64_t>(std::min<uint64_t>(request.timeout_us, INT64_MAX / 2000));
  }
  for (const Ask& ask : asks)
    if (ask.streams != asks[0].streams || ask.request.choices != asks[0].request.choices)
      return invalid_argument(
          "the prompts of one request are all streamed or none, and have as many answers each; send those of the model "
          "'{}' that differ in requests of their own",
          config.name);
  return asks;
}

}  // namespace nereid::server
