// SPDX-License-Identifier: Apache-2.0
// The messages around tensors (sequence, optional, map) are few and shallow, so their fields are walked by hand: how
// deep it goes is said by the declared type, never by the bytes.
#include "import/onnx/value_file.h"

#include <functional>
#include <limits>

#include "import/onnx/tensor_proto.h"
#include "ops/elements.h"

namespace nereid::import::onnx {
namespace {

using ops::Container;
using ops::Datum;
using ops::TensorType;

// The messages' field numbers, and what elem_type may say.
enum SequenceField : uint32_t { kSequenceElem = 2, kSequenceTensors = 3, kSequenceMaps = 6 };
enum OptionalField : uint32_t { kOptionalElem = 2, kOptionalTensor = 3, kOptionalSequence = 5 };
enum MapField : uint32_t { kMapKeyType = 2, kMapKeys = 3, kMapTexts = 4, kMapValues = 5 };
constexpr uint32_t kNameField = 1;
enum Element : uint64_t { kNothing = 0, kTensor = 1, kSequence = 3, kMap = 4 };

struct Field {
  uint32_t number = 0;
  bool is_bytes = false;
  uint64_t value = 0;      // of a number
  std::string_view bytes;  // of anything else
};

bool take_varint(std::string_view& in, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(in[0]);
    in.remove_prefix(1);
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

using FieldFunction = std::function<Status(const Field&)>;

Status each_field(std::string_view in, const FieldFunction& f) {
  const Status damaged = invalid_argument("its bytes are no sound message of the declared type");
  while (!in.empty()) {
    uint64_t key = 0, length = 0;
    if (!take_varint(in, &key) || key >> 3 == 0 || key >> 32 != 0) return damaged;
    Field field{.number = static_cast<uint32_t>(key >> 3)};
    switch (key & 7) {
      case 0:
        if (!take_varint(in, &field.value)) return damaged;
        break;
      case 1:
        length = 8;
        break;
      case 2:
        if (!take_varint(in, &length)) return damaged;
        field.is_bytes = true;
        break;
      case 5:
        length = 4;
        break;
      default:
        return damaged;
    }
    if (length > in.size()) return damaged;
    field.bytes = in.substr(0, static_cast<size_t>(length));
    in.remove_prefix(static_cast<size_t>(length));
    NEREID_RETURN_IF_ERROR(f(field));
  }
  return Status::ok();
}

TensorType inside(const TensorType& type, Container container) {
  TensorType inner = type;
  inner.container = container;
  return inner;
}

Result<ops::Tensor> parse_tensor(std::string_view bytes, DType dtype) {
  ::onnx::TensorProto proto;
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return invalid_argument("its bytes are no TensorProto, or are over 2 GiB");
  NEREID_TRY(ops::Tensor tensor, read_tensor(proto, nullptr));
  if (tensor.dtype != dtype)
    return invalid_argument("it holds elements of type {}, but {} are expected", dtype_name(tensor.dtype),
                            dtype_name(dtype));
  return tensor;
}

Result<Datum> parse_sequence(std::string_view bytes, const TensorType& type);

// One number a key, whatever rank each has.
Result<ops::Tensor> join_numbers(const std::vector<Datum>& items, DType dtype) {
  NEREID_TRY(ops::Tensor all, ops::Tensor::zeros(dtype, {static_cast<int64_t>(items.size())}));
  for (size_t i = 0; i < items.size(); ++i) {
    const ConstTensorView one = items[i].view();
    if (one.elements() != 1)
      return invalid_argument("a value of its map has {} elements; maps to single elements are read", one.elements());
    ops::copy_elements(all.view(), static_cast<int64_t>(i), one, 0, 1);
  }
  return all;
}

Result<Datum> parse_map(std::string_view bytes, const TensorType& type) {
  std::vector<int64_t> numbers;
  std::vector<std::string> texts;
  Datum values = Datum::sequence(type.dtype, {});
  NEREID_RETURN_IF_ERROR(each_field(bytes, [&](const Field& field) -> Status {
    if (field.number == kMapKeys && !field.is_bytes) {
      numbers.push_back(static_cast<int64_t>(field.value));
    } else if (field.number == kMapKeys) {  // packed
      for (std::string_view rest = field.bytes; !rest.empty();) {
        uint64_t value = 0;
        if (!take_varint(rest, &value)) return invalid_argument("the keys of its map are damaged");
        numbers.push_back(static_cast<int64_t>(value));
      }
    } else if (field.number == kMapTexts && field.is_bytes) {
      texts.emplace_back(field.bytes);
    } else if (field.number == kMapValues && field.is_bytes) {
      NEREID_TRY(values, parse_sequence(field.bytes, inside(type, Container::kSequence)));
    }
    return Status::ok();
  }));
  const size_t count = type.key == DType::string ? texts.size() : numbers.size();
  if (count != values.items.size() || (count == 0 && numbers.size() + texts.size() > 0))
    return invalid_argument("its map has {} keys of type {} and {} values", count, dtype_name(type.key),
                            values.items.size());
  const bool is_text = type.key == DType::string;
  NEREID_TRY(ops::Tensor keys, ops::Tensor::zeros(is_text ? DType::string : DType::i64, {static_cast<int64_t>(count)}));
  if (is_text) {
    keys.strings = std::move(texts);
  } else {
    NEREID_RETURN_IF_ERROR(ops::store<int64_t>(keys.view(), numbers));
  }
  NEREID_TRY(ops::Tensor joined, join_numbers(values.items, type.dtype));
  return Datum::map(std::move(keys), std::move(joined));
}

Result<Datum> parse_sequence(std::string_view bytes, const TensorType& type) {
  const bool of_maps = type.container == Container::kSequenceOfMaps;
  std::vector<Datum> items;
  NEREID_RETURN_IF_ERROR(each_field(bytes, [&](const Field& field) -> Status {
    if (field.number == kNameField || !(field.is_bytes || field.number == kSequenceElem)) return Status::ok();
    if (field.number == kSequenceElem) {
      if (field.value == kNothing || field.value == (of_maps ? kMap : kTensor)) return Status::ok();
      return invalid_argument("it is a sequence of another kind (elem_type {}) than the declared {}", field.value,
                              type.to_string());
    }
    if (field.number != (of_maps ? kSequenceMaps : kSequenceTensors))
      return invalid_argument("its field {} is not part of {}", field.number, type.to_string());
    if (of_maps) {
      NEREID_TRY(Datum item, parse_map(field.bytes, inside(type, Container::kMap)));
      items.push_back(std::move(item));
    } else {
      NEREID_TRY(ops::Tensor item, parse_tensor(field.bytes, type.dtype));
      items.emplace_back(std::move(item));
    }
    return Status::ok();
  }));
  return Datum::sequence(type.dtype, std::move(items));
}

Result<Datum> parse_optional(std::string_view bytes, const TensorType& type) {
  const bool of_sequence = type.container == Container::kOptionalSequence;
  Datum value = Datum::none(type.dtype);
  NEREID_RETURN_IF_ERROR(each_field(bytes, [&](const Field& field) -> Status {
    if (field.number == kNameField || field.number == kOptionalElem || !field.is_bytes) return Status::ok();
    if (field.number != (of_sequence ? kOptionalSequence : kOptionalTensor))
      return invalid_argument("its field {} is not part of {}", field.number, type.to_string());
    if (of_sequence) {
      NEREID_TRY(value, parse_sequence(field.bytes, inside(type, Container::kSequence)));
    } else {
      NEREID_TRY(value, parse_tensor(field.bytes, type.dtype));
    }
    return Status::ok();
  }));
  return value;
}

void put_varint(std::string& out, uint64_t value) {
  for (; value > 0x7f; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}
void put_number(std::string& out, uint32_t field, uint64_t value) {
  put_varint(out, field << 3);
  put_varint(out, value);
}
void put_bytes(std::string& out, uint32_t field, std::string_view bytes) {
  put_varint(out, field << 3 | 2);
  put_varint(out, bytes.size());
  out.append(bytes);
}

std::string tensor_bytes(const ConstTensorView& view, std::string_view name) {
  ::onnx::TensorProto proto;
  if (!name.empty()) proto.set_name(std::string(name));
  write_tensor(view, proto);
  return proto.SerializeAsString();
}

std::string map_bytes(const Datum& map) {
  std::string out, values;
  const int64_t count = map.view().elements();
  const bool texts = map.keys.dtype == DType::string;
  put_number(out, kMapKeyType, texts ? ::onnx::TensorProto::STRING : ::onnx::TensorProto::INT64);
  if (texts) {
    for (const std::string& key : map.keys.strings) put_bytes(out, kMapTexts, key);
  } else {
    for (const int64_t key : ops::load<int64_t>(std::as_const(map.keys).view()))
      put_number(out, kMapKeys, static_cast<uint64_t>(key));
  }
  put_number(values, kSequenceElem, kTensor);
  for (int64_t i = 0; i < count; ++i) {
    ops::Tensor one = ops::Tensor::zeros(map.tensor.dtype, {}).value();
    ops::copy_elements(one.view(), 0, map.view(), i, 1);
    put_bytes(values, kSequenceTensors, tensor_bytes(std::as_const(one).view(), {}));
  }
  put_bytes(out, kMapValues, values);
  return out;
}

std::string sequence_bytes(const Datum& sequence, bool of_maps) {
  std::string out;
  put_number(out, kSequenceElem, of_maps ? kMap : kTensor);
  for (const Datum& item : sequence.items)
    put_bytes(out, of_maps ? kSequenceMaps : kSequenceTensors,
              of_maps ? map_bytes(item) : tensor_bytes(item.view(), {}));
  return out;
}

}  // namespace

Result<Datum> read_value(std::string_view bytes, const TensorType& type) {
  switch (type.container) {
    case Container::kNone: {
      NEREID_TRY(ops::Tensor tensor, parse_tensor(bytes, type.dtype));
      return Datum(std::move(tensor));
    }
    case Container::kSequence:
    case Container::kSequenceOfMaps:
      return parse_sequence(bytes, type);
    case Container::kOptional:
    case Container::kOptionalSequence:
      return parse_optional(bytes, type);
    case Container::kMap:
      return parse_map(bytes, type);
  }
  return internal("a value of the type {} cannot be read", type.to_string());
}

std::string write_value(const Datum& value, const TensorType& type, std::string_view name) {
  if (value.is_tensor() && type.container != Container::kOptional) return tensor_bytes(value.view(), name);
  std::string out;
  if (!name.empty()) put_bytes(out, kNameField, name);
  if (type.container == Container::kOptional || type.container == Container::kOptionalSequence) {
    const bool of_sequence = type.container == Container::kOptionalSequence;
    put_number(out, kOptionalElem, of_sequence ? kSequence : kTensor);
    if (value.kind == Datum::Kind::kSequence) put_bytes(out, kOptionalSequence, sequence_bytes(value, false));
    if (value.is_tensor()) put_bytes(out, kOptionalTensor, tensor_bytes(value.view(), {}));
    return out;
  }
  // An empty sequence does not show of what it is one; the declared type does.
  const bool of_maps =
      value.items.empty() ? type.container == Container::kSequenceOfMaps : value.items[0].kind == Datum::Kind::kMap;
  return out + (value.kind == Datum::Kind::kMap ? map_bytes(value) : sequence_bytes(value, of_maps));
}

}  // namespace nereid::import::onnx
