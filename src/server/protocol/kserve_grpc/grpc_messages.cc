// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve_grpc/grpc_messages.h"

#include <charconv>

#include "server/core/infer_check.h"
#include "server/protocol/kserve/classification.h"

namespace nereid::server::kserve {
namespace {

template <typename Values>
std::string raw_of(const Values& values) {
  using T = typename Values::value_type;
  return {reinterpret_cast<const char*>(values.data()), static_cast<size_t>(values.size()) * sizeof(T)};
}

// 32-bit numbers of the message into narrower ones.
template <typename T, typename Values>
std::string narrowed(const Values& values) {
  std::string out;
  for (const auto value : values) {
    const T narrow = static_cast<T>(value);
    out.append(reinterpret_cast<const char*>(&narrow), sizeof narrow);
  }
  return out;
}

std::string texts_of(const inference::InferTensorContents& contents) {
  std::string out;
  for (const std::string& text : contents.bytes_contents()) {
    const auto length = static_cast<uint32_t>(text.size());
    out.append(reinterpret_cast<const char*>(&length), sizeof length);
    out += text;
  }
  return out;
}

// The type of the field that is filled; kInvalid: none is.
InferType filled_type(const inference::InferTensorContents& contents) {
  if (contents.bool_contents_size() > 0) return InferType::kBool;
  if (contents.int_contents_size() > 0) return InferType::kInt32;
  if (contents.int64_contents_size() > 0) return InferType::kInt64;
  if (contents.uint_contents_size() > 0) return InferType::kUint32;
  if (contents.uint64_contents_size() > 0) return InferType::kUint64;
  if (contents.fp32_contents_size() > 0) return InferType::kFp32;
  if (contents.fp64_contents_size() > 0) return InferType::kFp64;
  if (contents.bytes_contents_size() > 0) return InferType::kBytes;
  return InferType::kInvalid;
}

// The field that a type's elements come in.
InferType field_type(InferType type) {
  switch (type) {
    case InferType::kInt8:
    case InferType::kInt16:
      return InferType::kInt32;
    case InferType::kUint8:
    case InferType::kUint16:
      return InferType::kUint32;
    default:
      return type;
  }
}

std::string contents_of(const inference::InferTensorContents& c, InferType type) {
  switch (type) {
    case InferType::kBool:
      return narrowed<uint8_t>(c.bool_contents());
    case InferType::kInt8:
      return narrowed<int8_t>(c.int_contents());
    case InferType::kInt16:
      return narrowed<int16_t>(c.int_contents());
    case InferType::kInt32:
      return raw_of(c.int_contents());
    case InferType::kInt64:
      return raw_of(c.int64_contents());
    case InferType::kUint8:
      return narrowed<uint8_t>(c.uint_contents());
    case InferType::kUint16:
      return narrowed<uint16_t>(c.uint_contents());
    case InferType::kUint32:
      return raw_of(c.uint_contents());
    case InferType::kUint64:
      return raw_of(c.uint64_contents());
    case InferType::kFp32:
      return raw_of(c.fp32_contents());
    case InferType::kFp64:
      return raw_of(c.fp64_contents());
    case InferType::kBytes:
      return texts_of(c);
    default:
      return {};
  }
}

Status read_parameters(const inference::ModelInferRequest& message, InferRequest* request, GrpcAnswerShape* shape) {
  const auto wrong_type = [](std::string_view name, std::string_view wanted) {
    return invalid_argument("invalid value type for '{}' parameter, expected {}.", name, wanted);
  };
  for (const auto& [name, value] : message.parameters()) {
    if (name == "sequence_id") {
      if (!value.has_string_param() && !value.has_int64_param()) return wrong_type(name, "int64_param or string_param");
      if (value.has_string_param()) {
        request->sequence.text_id = value.string_param();
        NEREID_RETURN_IF_ERROR(check_sequence_name(request->sequence));
      } else {
        request->sequence.id = static_cast<uint64_t>(value.int64_param());
      }
    } else if (name == "sequence_start") {
      if (!value.has_bool_param()) return wrong_type(name, "bool_param");
      request->sequence.is_start = value.bool_param();
    } else if (name == "sequence_end") {
      if (!value.has_bool_param()) return wrong_type(name, "bool_param");
      request->sequence.is_end = value.bool_param();
    } else if (name == "priority") {
      request->priority = value.has_uint64_param() ? value.uint64_param() : static_cast<uint64_t>(value.int64_param());
    } else if (name == "timeout") {
      if (!value.has_int64_param()) return wrong_type(name, "int64_param");
      request->timeout_us = static_cast<uint64_t>(value.int64_param());
    } else if (name == "triton_enable_empty_final_response") {
      if (!value.has_bool_param()) return wrong_type(name, "bool_param");
      shape->wants_empty_final = value.bool_param();
    } else if (name.starts_with("triton_")) {
      return invalid_argument(
          "parameter keys starting with 'triton_' are reserved for Triton usage. Only the following keys starting with "
          "'triton_' are allowed: triton_enable_empty_final_response");
    } else if (value.has_bool_param()) {
      request->parameters.emplace_back(name, value.bool_param());
    } else if (value.has_int64_param()) {
      request->parameters.emplace_back(name, int64_t{value.int64_param()});
    } else if (value.has_string_param()) {
      request->parameters.emplace_back(name, value.string_param());
    } else if (value.has_double_param()) {
      request->parameters.emplace_back(name, value.double_param());
    } else {
      return invalid_argument(
          "invalid value type for '{}' parameter, expected int64_param, bool_param, or string_param.", name);
    }
  }
  return Status::ok();
}

using net::http2::BodyPiece;

constexpr size_t kCopied = 4 << 10;  // shorter tensors join the text: one piece to send

// The key and the length of a field of bytes.
void append_field_head(int number, size_t length, std::string* out) {
  constexpr unsigned kBytes = 2;
  for (size_t value : {static_cast<size_t>(number) << 3 | kBytes, length}) {
    for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>((value & 0x7f) | 0x80));
    out->push_back(static_cast<char>(value));
  }
}

// Behind the last piece's text.
void add_tensors(std::vector<RawTensor> tensors, std::vector<BodyPiece>* pieces) {
  for (RawTensor& tensor : tensors) {
    if (pieces->back().owner != nullptr) pieces->emplace_back();
    BodyPiece& piece = pieces->back();
    const std::string_view bytes(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
    append_field_head(inference::ModelInferResponse::kRawOutputContentsFieldNumber, bytes.size(), &piece.text);
    if (bytes.size() < kCopied || tensor.owner == nullptr) {
      piece.text += bytes;
    } else {
      piece.bytes = bytes;
      piece.owner = std::move(tensor.owner);
    }
  }
}

using Parameters = google::protobuf::Map<std::string, inference::InferParameter>;

// Where in shared memory a tensor lies or goes to; nothing: it does not.
Result<std::optional<GrpcAnswerShape::Place>> read_place(const std::string& tensor, const Parameters& parameters) {
  const auto region = parameters.find("shared_memory_region");
  if (region == parameters.end()) return std::optional<GrpcAnswerShape::Place>();
  GrpcAnswerShape::Place place{.output = tensor, .region = region->second.string_param()};
  const auto bytes = parameters.find("shared_memory_byte_size");
  if (bytes == parameters.end() || bytes->second.int64_param() < 0)
    return invalid_argument(
        "'shared_memory_byte_size' must be specified along with 'shared_memory_region' parameter for tensor '{}'",
        tensor);
  place.bytes = static_cast<uint64_t>(bytes->second.int64_param());
  if (const auto offset = parameters.find("shared_memory_offset"); offset != parameters.end())
    place.offset = static_cast<uint64_t>(offset->second.int64_param());
  return std::optional<GrpcAnswerShape::Place>(std::move(place));
}

void write_duration(const DurationSum& sum, inference::StatisticDuration* message) {
  message->set_count(sum.count);
  message->set_ns(sum.ns);
}

}  // namespace

Result<InferRequest> read_request(const SplitRequest& split, std::shared_ptr<const void> owner,
                                  const SharedMemory& shared, GrpcAnswerShape* shape) {
  InferRequest request;
  const inference::ModelInferRequest* const message = &split.message;
  request.id = shape->id = message->id();
  NEREID_RETURN_IF_ERROR(read_parameters(*message, &request, shape));
  const std::string& model = message->model_name();
  size_t next_raw = 0;
  for (const auto& input : message->inputs()) {
    const std::optional<InferType> type = infer_type_from_name(input.datatype());
    InferTensor tensor{.name = input.name(),
                       .type = type.value_or(InferType::kInvalid),
                       .shape = {input.shape().begin(), input.shape().end()},
                       .bytes = {},
                       .owner = nullptr};
    NEREID_TRY(const std::optional<GrpcAnswerShape::Place> place, read_place(input.name(), input.parameters()));
    if (place) {
      NEREID_TRY(std::string bytes, shared.read(place->region, place->offset, place->bytes));
      request.inputs.push_back(
          tensor_of(std::move(tensor.name), tensor.type, std::move(tensor.shape), std::move(bytes)));
      continue;
    }
    if (!split.raws.empty()) {
      if (input.has_contents() && filled_type(input.contents()) != InferType::kInvalid)
        return invalid_argument(
            "contents field must not be specified when using raw_input_contents for '{}' for model '{}'", input.name(),
            model);
      if (next_raw >= split.raws.size())
        return invalid_argument("unable to find data for input tensor '{}' for model '{}' in request.", input.name(),
                                model);
      const std::string_view raw = split.raws[next_raw++];
      tensor.bytes = std::as_bytes(std::span(raw.data(), raw.size()));
      tensor.owner = owner;
    } else {
      const InferType filled = filled_type(input.contents());
      const bool is_empty = element_count(tensor.shape) == 0;
      if (filled == InferType::kInvalid && !is_empty)
        return invalid_argument("unable to find data for input tensor '{}' for model '{}' in request.", input.name(),
                                model);
      if (!is_empty && filled != field_type(tensor.type))
        return invalid_argument(
            "unexpected explicit tensor data for input tensor '{}' for model '{}' of type '{}', expected datatype '{}'",
            input.name(), model, infer_type_name(filled), input.datatype());
      tensor = tensor_of(std::move(tensor.name), tensor.type, std::move(tensor.shape),
                         contents_of(input.contents(), tensor.type));
    }
    request.inputs.push_back(std::move(tensor));
  }
  for (const auto& output : message->outputs()) {
    request.outputs.push_back(output.name());
    const auto classes = output.parameters().find("classification");
    if (classes != output.parameters().end() && classes->second.int64_param() > 0)
      shape->classes.emplace_back(output.name(), static_cast<uint64_t>(classes->second.int64_param()));
    NEREID_TRY(std::optional<GrpcAnswerShape::Place> place, read_place(output.name(), output.parameters()));
    if (place) shape->places.push_back(std::move(*place));
  }
  return request;
}

Status write_response(const InferModel& model, const GrpcAnswerShape& shape, const SharedMemory& shared,
                      InferResponse&& response, inference::ModelInferResponse* message, std::vector<RawTensor>* raw) {
  message->set_model_name(model.config().name);
  message->set_model_version(std::to_string(model.version()));
  message->set_id(shape.id);
  for (const auto& [name, value] : response.parameters) {
    inference::InferParameter& parameter = (*message->mutable_parameters())[name];
    if (const bool* boolean = std::get_if<bool>(&value)) parameter.set_bool_param(*boolean);
    if (const int64_t* integer = std::get_if<int64_t>(&value)) parameter.set_int64_param(*integer);
    if (const double* number = std::get_if<double>(&value)) parameter.set_double_param(*number);
    if (const std::string* text = std::get_if<std::string>(&value)) parameter.set_string_param(*text);
  }
  for (InferTensor& tensor : response.outputs) {
    for (const auto& [name, classes] : shape.classes) {
      if (name != tensor.name) continue;
      NEREID_TRY(tensor, classify(tensor, classes, model.config().max_batch_size > 0, model.labels(name)));
    }
    auto* output = message->add_outputs();
    output->set_name(tensor.name);
    output->set_datatype(std::string(infer_type_name(tensor.type)));
    for (const int64_t size : tensor.shape) output->add_shape(size);
    bool is_shared = false;
    for (const GrpcAnswerShape::Place& place : shape.places) {
      if (place.output != tensor.name) continue;
      is_shared = true;
      if (tensor.bytes.size() > place.bytes)
        return internal(
            "shared memory size specified with the request for output '{}' ({} bytes) should be at least {} bytes to "
            "hold "
            "the results",
            tensor.name, place.bytes, tensor.bytes.size());
      NEREID_RETURN_IF_ERROR(shared.write(place.region, place.offset, tensor.bytes));
    }
    // One that lies in shared memory takes an empty place among the raw ones.
    if (is_shared) tensor.bytes = {};
    raw->push_back({.bytes = tensor.bytes, .owner = std::move(tensor.owner)});
  }
  return Status::ok();
}

std::vector<BodyPiece> write_pieces(const inference::ModelInferResponse& message, std::vector<RawTensor> tensors) {
  std::vector<BodyPiece> pieces(1);
  message.SerializeToString(&pieces.back().text);
  add_tensors(std::move(tensors), &pieces);
  return pieces;
}

std::vector<BodyPiece> write_stream_pieces(const inference::ModelInferResponse& message,
                                           std::vector<RawTensor> tensors) {
  const std::string text = message.SerializeAsString();
  std::vector<BodyPiece> rest(1);
  add_tensors(std::move(tensors), &rest);
  size_t bytes = text.size();
  for (const BodyPiece& piece : rest) bytes += piece.size();
  std::string head;
  append_field_head(inference::ModelStreamInferResponse::kInferResponseFieldNumber, bytes, &head);
  rest.front().text.insert(0, head + text);
  return rest;
}

Result<int64_t> read_version(const std::string& text) {
  if (text.empty()) return int64_t{-1};
  int64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc() || end != text.data() + text.size())
    return invalid_argument(
        "failed to get model version from specified version string '{}' (details: stol), version should be an integral "
        "value > 0",
        text);
  return version;
}

void write_statistics(const InferModel& model, inference::ModelStatistics* message) {
  const InferStatistics s = model.statistics();
  message->set_name(model.config().name);
  message->set_version(std::to_string(model.version()));
  message->set_last_inference(s.last_inference_ms);
  message->set_inference_count(s.inferences);
  message->set_execution_count(s.executions);
  auto* sums = message->mutable_inference_stats();
  write_duration(s.success, sums->mutable_success());
  write_duration(s.fail, sums->mutable_fail());
  write_duration(s.queue, sums->mutable_queue());
  write_duration(s.compute.input, sums->mutable_compute_input());
  write_duration(s.compute.infer, sums->mutable_compute_infer());
  write_duration(s.compute.output, sums->mutable_compute_output());
  write_duration(s.cache_hit, sums->mutable_cache_hit());
  write_duration(s.cache_miss, sums->mutable_cache_miss());
  for (const auto& [size, compute] : s.batches) {
    auto* batch = message->add_batch_stats();
    batch->set_batch_size(static_cast<uint64_t>(size));
    write_duration(compute.input, batch->mutable_compute_input());
    write_duration(compute.infer, batch->mutable_compute_infer());
    write_duration(compute.output, batch->mutable_compute_output());
  }
}

}  // namespace nereid::server::kserve
