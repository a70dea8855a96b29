// SPDX-License-Identifier: Apache-2.0
#include "api/tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/shape.h"

namespace nereid::api {
namespace {

// In the order of the C interface's numbers, from 1.
constexpr std::array kTypes = {
    DType::f32,    DType::f64,  DType::f16,    DType::bf16,   DType::i8,         DType::i16,        DType::i32,
    DType::i64,    DType::u8,   DType::u16,    DType::u32,    DType::u64,        DType::boolean,    DType::string,
    DType::c64,    DType::c128, DType::f8e4m3, DType::f8e5m2, DType::f8e4m3fnuz, DType::f8e5m2fnuz, DType::f8e8m0,
    DType::f4e2m1, DType::i4,   DType::u4,     DType::i2,     DType::u2};
static_assert(kTypes.size() == NEREID_U2 && kTypes[NEREID_STRING - 1] == DType::string &&
              kTypes[NEREID_C128 - 1] == DType::c128 && kTypes[NEREID_F4E2M1 - 1] == DType::f4e2m1);

nereid_kind kind_of(const ops::TensorType& type) {
  switch (type.container) {
    case ops::Container::kNone:
      return NEREID_TENSOR;
    case ops::Container::kOptional:
    case ops::Container::kOptionalSequence:
      return NEREID_OPTIONAL;
    case ops::Container::kMap:
      return NEREID_MAP;
    case ops::Container::kSequence:
    case ops::Container::kSequenceOfMaps:
      break;
  }
  return NEREID_SEQUENCE;
}

}  // namespace

std::optional<DType> dtype_from(nereid_dtype dtype) {
  if (dtype < 1 || dtype > static_cast<nereid_dtype>(kTypes.size())) return std::nullopt;
  return kTypes[static_cast<size_t>(dtype - 1)];
}

nereid_dtype dtype_to(DType dtype) {
  const auto it = std::ranges::find(kTypes, dtype);
  return it == kTypes.end() ? NEREID_DTYPE_NONE : static_cast<nereid_dtype>(it - kTypes.begin() + 1);
}

size_t alignment_of(DType dtype) {
  if (dtype == DType::string) return alignof(nereid_string);
  const size_t bytes = dtype_info(dtype).block_bytes;
  return dtype_info(dtype).kind == DTypeInfo::Kind::kComplex ? bytes / 2 : bytes;
}

Result<std::vector<int64_t>> read_dims(int32_t rank, const int64_t* dims) {
  if (rank < 0 || rank > kMostDims) return invalid_argument("the rank is {}; it is 0 to {}", rank, kMostDims);
  if (rank > 0 && dims == nullptr) return invalid_argument("the rank is {}, but the list of sizes is NULL", rank);
  for (int32_t d = 0; d < rank; ++d)
    if (dims[d] < 0) return invalid_argument("size {} is {}; sizes are 0 or more", d, dims[d]);
  return std::vector<int64_t>(dims, dims + rank);
}

Result<int64_t> check_tensor(const nereid_tensor& tensor) {
  const std::optional<DType> dtype = dtype_from(tensor.dtype);
  if (!dtype) return invalid_argument("{} is no element type", tensor.dtype);
  if (tensor.rank < 0 || tensor.rank > kMostDims || (tensor.rank > 0 && tensor.dims == nullptr))
    return read_dims(tensor.rank, tensor.dims).status();
  int64_t elements = 1;
  bool none = false, too_many = false;
  for (int32_t d = 0; d < tensor.rank; ++d) {
    if (tensor.dims[d] < 0) return read_dims(tensor.rank, tensor.dims).status();
    none |= tensor.dims[d] == 0;
    too_many |= __builtin_mul_overflow(elements, tensor.dims[d], &elements);
  }
  const int64_t bytes = none ? 0 : too_many ? -1 : nereid_dtype_bytes(tensor.dtype, elements);
  if (bytes < 0)
    return invalid_argument("a {} tensor of {} has more bytes than can be counted", dtype_name(*dtype),
                            Shape::of({tensor.dims, static_cast<size_t>(tensor.rank)}).to_string());
  if (bytes > 0 && tensor.data == nullptr) return invalid_argument("its data is NULL");
  if (reinterpret_cast<uintptr_t>(tensor.data) % alignment_of(*dtype) != 0)
    return invalid_argument("its data is not at a multiple of {} bytes, as {} needs it", alignment_of(*dtype),
                            dtype_name(*dtype));
  return bytes;
}

void ValueInfos::add(const compile::NamedType& value) {
  nereid_value_info info{};
  info.name = texts_.emplace_back(value.name).c_str();
  info.kind = kind_of(value.type);
  info.dtype = dtype_to(value.type.dtype);
  info.rank = -1;
  if (value.type.shape.is_ranked()) {
    info.rank = value.type.shape.rank();
    std::vector<int64_t>& dims = dims_.emplace_back();
    std::vector<const char*>& names = names_.emplace_back();
    for (const Dim& d : value.type.shape.dims()) {
      dims.push_back(d.is_static() ? d.size() : -1);
      names.push_back(d.is_static() || d.is_unknown() ? "" : texts_.emplace_back(d.symbol()).c_str());
    }
    info.dims = dims.data();
    info.dim_names = names.data();
  }
  infos_.push_back(info);
}

Result<size_t> ValueInfos::find(std::string_view what, std::string_view name) const {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < infos_.size(); ++i) {
    if (infos_[i].name == name) return i;
    names.emplace_back(infos_[i].name);
  }
  return not_found("there is no {} '{}'; there is {}", what, name,
                   names.empty() ? std::string("none") : fmt::format("'{}'", fmt::join(names, "', '")));
}

}  // namespace nereid::api

extern "C" {

const char* nereid_dtype_name(nereid_dtype dtype) {
  const auto ours = nereid::api::dtype_from(dtype);
  return ours ? nereid::dtype_name(*ours).data() : "none";  // the table's texts are literals, ended by zero
}

int64_t nereid_dtype_bytes(nereid_dtype dtype, int64_t elements) {
  const auto ours = nereid::api::dtype_from(dtype);
  if (!ours || elements < 0) return -1;
  if (*ours != nereid::DType::string) return nereid::dtype_bytes(*ours, elements).value_or(-1);
  int64_t bytes = 0;
  return __builtin_mul_overflow(elements, static_cast<int64_t>(sizeof(nereid_string)), &bytes) ? -1 : bytes;
}

}  // extern "C"
