// SPDX-License-Identifier: Apache-2.0
#include "server/load/infer_request_text.h"

#include <charconv>
#include <cstring>

namespace nereid::server::load {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 30;

struct TypeBytes {
  std::string_view name;
  int bytes;
};
constexpr TypeBytes kTypes[] = {{"BOOL", 1}, {"UINT8", 1}, {"UINT16", 2}, {"UINT32", 4}, {"UINT64", 8},
                                {"INT8", 1}, {"INT16", 2}, {"INT32", 4},  {"INT64", 8},  {"FP16", 2},
                                {"BF16", 2}, {"FP32", 4},  {"FP64", 8},   {"BYTES", 0}};
constexpr std::string_view kText = "nereid";  // each element of BYTES

const TypeBytes* find_type(std::string_view name) {
  for (const TypeBytes& one : kTypes)
    if (one.name == name) return &one;
  return nullptr;
}

// The element `i` of a type: a number below 100, or a hundredth of it.
void put_element(std::string_view type, int64_t i, char* to) {
  const auto small = static_cast<uint64_t>(i % 100);
  if (type == "FP32") {
    const float value = 0.01f * static_cast<float>(small);
    std::memcpy(to, &value, sizeof value);
  } else if (type == "FP64") {
    const double value = 0.01 * static_cast<double>(small);
    std::memcpy(to, &value, sizeof value);
  } else if (type == "FP16" || type == "BF16") {
    const uint16_t one = type == "FP16" ? 0x3c00 : 0x3f80;
    std::memcpy(to, &one, sizeof one);
  } else {
    to[0] = static_cast<char>(type == "BOOL" ? small & 1 : small);  // little end first; the rest is zero
  }
}

// Protocol buffers' wire format.
void append_varint(std::string* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}
void append_field(std::string* out, int number, std::string_view bytes) {
  append_varint(out, static_cast<uint64_t>(number) << 3 | 2);
  append_varint(out, bytes.size());
  out->append(bytes);
}

}  // namespace

Result<InferInput> parse_infer_input(std::string_view text) {
  const auto wrong = [&] {
    return invalid_argument("'{}' is no input; write NAME=TYPE[SIZE,...], such as INPUT0=FP32[1,16]", text);
  };
  const size_t equals = text.find('='), bracket = text.find('[');
  if (equals == text.npos || bracket == text.npos || bracket < equals || !text.ends_with(']')) return wrong();
  InferInput input{.name = std::string(text.substr(0, equals)),
                   .type = std::string(text.substr(equals + 1, bracket - equals - 1)),
                   .shape = {}};
  std::string_view sizes = text.substr(bracket + 1, text.size() - bracket - 2);
  while (!sizes.empty()) {
    const std::string_view one = sizes.substr(0, sizes.find(','));
    sizes.remove_prefix(std::min(sizes.size(), one.size() + 1));
    int64_t size = 0;
    const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), size);
    if (error != std::errc() || end != one.data() + one.size() || size < 0) return wrong();
    input.shape.push_back(size);
  }
  if (input.name.empty()) return wrong();
  if (find_type(input.type) == nullptr)
    return invalid_argument(
        "'{}' is no type of the protocol; there are BOOL, UINT8 to UINT64, INT8 to INT64, FP16, BF16, "
        "FP32, FP64 and BYTES",
        input.type);
  return input;
}

Result<std::vector<InferInput>> inputs_of_metadata(const Json& metadata) {
  std::vector<InferInput> inputs;
  NEREID_TRY(const Json* list, json_array(metadata, "inputs"));
  for (const Json& one : *list) {
    InferInput input;
    NEREID_TRY(input.name, json_string(one, "name"));
    NEREID_TRY(input.type, json_string(one, "datatype"));
    NEREID_TRY(const Json* shape, json_array(one, "shape"));
    for (const Json& size : *shape) {
      if (!size.is_number_integer()) return internal("the model's metadata has a shape that is not made of integers");
      input.shape.push_back(std::max<int64_t>(1, size.get<int64_t>()));
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

Result<std::string> input_bytes(const InferInput& input) {
  const TypeBytes* type = find_type(input.type);
  if (type == nullptr) return invalid_argument("'{}' is no type that tensors of the protocol have", input.type);
  const bool is_text = type->bytes == 0;
  const int64_t width = is_text ? 4 + static_cast<int64_t>(kText.size()) : type->bytes;
  int64_t elements = 1;
  for (const int64_t size : input.shape)
    if (__builtin_mul_overflow(elements, size, &elements) || elements > kMostBytes / width)
      return invalid_argument("the input '{}' has more than {} bytes", input.name, kMostBytes);
  std::string bytes(static_cast<size_t>(elements * width), '\0');
  for (int64_t i = 0; i < elements; ++i) {
    char* const to = bytes.data() + i * width;
    if (is_text) {
      to[0] = static_cast<char>(kText.size());
      std::memcpy(to + 4, kText.data(), kText.size());
    } else {
      put_element(input.type, i, to);
    }
  }
  return bytes;
}

Result<std::string> infer_http_body(const std::vector<InferInput>& inputs, size_t* json_bytes) {
  Json list = Json::array();
  std::string raw;
  for (const InferInput& one : inputs) {
    NEREID_TRY(const std::string bytes, input_bytes(one));
    list.push_back({{"name", one.name},
                    {"shape", one.shape},
                    {"datatype", one.type},
                    {"parameters", {{"binary_data_size", bytes.size()}}}});
    raw += bytes;
  }
  std::string text = Json{{"inputs", std::move(list)}, {"parameters", {{"binary_data_output", true}}}}.dump();
  *json_bytes = text.size();
  return text + raw;
}

// The numbers are those of grpc_service.proto in server/protocol/kserve_grpc.
Result<std::string> infer_grpc_message(const std::string& model, const std::vector<InferInput>& inputs) {
  std::string out, raw;
  append_field(&out, 1, model);
  for (const InferInput& one : inputs) {
    NEREID_TRY(const std::string bytes, input_bytes(one));
    std::string tensor, shape;
    append_field(&tensor, 1, one.name);
    append_field(&tensor, 2, one.type);
    for (const int64_t size : one.shape) append_varint(&shape, static_cast<uint64_t>(size));
    append_field(&tensor, 3, shape);
    append_field(&out, 5, tensor);
    append_field(&raw, 7, bytes);
  }
  return out + raw;
}

}  // namespace nereid::server::load
