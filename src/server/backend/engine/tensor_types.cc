// SPDX-License-Identifier: Apache-2.0
#include "server/backend/engine/tensor_types.h"

#include <utility>

namespace nereid::server {
namespace {

constexpr std::pair<InferType, DType> kTypes[] = {
    {InferType::kBool, DType::boolean}, {InferType::kUint8, DType::u8},   {InferType::kUint16, DType::u16},
    {InferType::kUint32, DType::u32},   {InferType::kUint64, DType::u64}, {InferType::kInt8, DType::i8},
    {InferType::kInt16, DType::i16},    {InferType::kInt32, DType::i32},  {InferType::kInt64, DType::i64},
    {InferType::kFp16, DType::f16},     {InferType::kFp32, DType::f32},   {InferType::kFp64, DType::f64},
    {InferType::kBytes, DType::string}, {InferType::kBf16, DType::bf16},
};

}  // namespace

std::optional<DType> dtype_of(InferType type) {
  for (const auto& [infer, dtype] : kTypes)
    if (infer == type) return dtype;
  return std::nullopt;
}

InferType infer_type_of(DType wanted) {
  for (const auto& [infer, dtype] : kTypes)
    if (dtype == wanted) return infer;
  return InferType::kInvalid;
}

std::optional<std::vector<int64_t>> reshaped(const std::vector<int64_t>& from, const std::vector<int64_t>& to,
                                             std::vector<int64_t> have) {
  if (have.size() != from.size()) return std::nullopt;
  std::vector<int64_t> open;
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] == -1) open.push_back(have[i]);
  std::vector<int64_t> out;
  size_t next = 0;
  for (const int64_t size : to) {
    if (size != -1) {
      out.push_back(size);
    } else if (next < open.size()) {
      out.push_back(open[next++]);
    } else {
      return std::nullopt;
    }
  }
  return out;
}

}  // namespace nereid::server
