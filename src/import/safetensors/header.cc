// SPDX-License-Identifier: Apache-2.0
#include "import/safetensors/header.h"

#include <array>
#include <limits>
#include <optional>

#include "base/json.h"
#include "base/shape.h"

namespace nereid::import::safetensors {
namespace {

struct TypeName {
  std::string_view name;
  DType dtype;
};
constexpr std::array kTypeNames = {
    TypeName{"F64", DType::f64},   TypeName{"F32", DType::f32},        TypeName{"F16", DType::f16},
    TypeName{"BF16", DType::bf16}, TypeName{"F8_E4M3", DType::f8e4m3}, TypeName{"F8_E5M2", DType::f8e5m2},
    TypeName{"I64", DType::i64},   TypeName{"I32", DType::i32},        TypeName{"I16", DType::i16},
    TypeName{"I8", DType::i8},     TypeName{"U64", DType::u64},        TypeName{"U32", DType::u32},
    TypeName{"U16", DType::u16},   TypeName{"U8", DType::u8},          TypeName{"BOOL", DType::boolean},
};

Result<DType> dtype_of(std::string_view name) {
  std::string known;
  for (const TypeName& row : kTypeNames) {
    if (row.name == name) return row.dtype;
    known.append(known.empty() ? "" : ", ").append(row.name);
  }
  return unsupported("its dtype is '{}'; expected one of {}", name.substr(0, 32), known);
}

Result<std::vector<int64_t>> integers(const Json& object, const char* key) {
  NEREID_TRY(const Json* array, json_array(object, key));
  std::vector<int64_t> values;
  values.reserve(array->size());
  for (const Json& item : *array) {
    if (!item.is_number_unsigned() || item.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return invalid_argument("its '{}' holds something that is not an integer from 0 to 2^63 - 1", key);
    values.push_back(item.get<int64_t>());
  }
  return values;
}

Result<HeaderTensor> parse_tensor(const std::string& name, const Json& object) {
  HeaderTensor tensor;
  tensor.name = name;
  NEREID_TRY(const std::string type_name, json_string(object, "dtype"));
  NEREID_TRY(tensor.dtype, dtype_of(type_name));
  NEREID_TRY(tensor.sizes, integers(object, "shape"));
  NEREID_TRY(const std::vector<int64_t> offsets, integers(object, "data_offsets"));
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    return invalid_argument("its 'data_offsets' are not two numbers, begin and end, in this order");
  tensor.begin = static_cast<uint64_t>(offsets[0]);
  tensor.end = static_cast<uint64_t>(offsets[1]);

  const auto elements = checked_product(tensor.sizes);
  const auto bytes = elements ? dtype_bytes(tensor.dtype, *elements) : std::nullopt;
  if (!bytes)
    return invalid_argument("its shape {} of {} needs more than 2^63 - 1 bytes", Shape::of(tensor.sizes).to_string(),
                            dtype_name(tensor.dtype));
  if (static_cast<uint64_t>(*bytes) != tensor.end - tensor.begin)
    return invalid_argument("its shape {} of {} needs {} bytes, but its data_offsets {} to {} hold {}",
                            Shape::of(tensor.sizes).to_string(), dtype_name(tensor.dtype), *bytes, tensor.begin,
                            tensor.end, tensor.end - tensor.begin);
  return tensor;
}

}  // namespace

Result<Header> parse_header(std::string_view text) {
  NEREID_TRY(const Json json, parse_json(text).with("the header"));
  if (!json.is_object()) return invalid_argument("the header is not a JSON object");
  Header header;
  header.tensors.reserve(json.size());
  for (const auto& [name, value] : json.items()) {
    if (name == "__metadata__") {
      if (!value.is_object()) return invalid_argument("the header's __metadata__ is not an object");
      for (const auto& [key, entry] : value.items()) {
        if (!entry.is_string())
          return invalid_argument("the header's __metadata__ holds something that is not a string");
        header.metadata.emplace_back(key, entry.get_ref<const std::string&>());
      }
      continue;
    }
    auto tensor = parse_tensor(name, value);
    if (!tensor) {
      // What a header lacks is not "not found" to whoever opens the file: the file is damaged.
      const bool sound = tensor.status().code() == StatusCode::kUnsupported;
      return error(sound ? StatusCode::kUnsupported : StatusCode::kInvalidArgument, "tensor '{}': {}", name,
                   tensor.status().message());
    }
    header.tensors.push_back(std::move(*tensor));
  }
  return header;
}

}  // namespace nereid::import::safetensors
