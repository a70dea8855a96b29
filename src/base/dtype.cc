// SPDX-License-Identifier: Apache-2.0
#include "base/dtype.h"

#include <array>

namespace nereid {
namespace {

using K = DTypeInfo::Kind;

// clang-format off
constexpr std::array kTable = {
    DTypeInfo{DType::f32,     "f32",      1,   4, K::kFloat},
    DTypeInfo{DType::f64,     "f64",      1,   8, K::kFloat},
    DTypeInfo{DType::f16,     "f16",      1,   2, K::kFloat},
    DTypeInfo{DType::bf16,    "bf16",     1,   2, K::kFloat},
    DTypeInfo{DType::f8e4m3,  "f8e4m3",   1,   1, K::kFloat},
    DTypeInfo{DType::f8e5m2,  "f8e5m2",   1,   1, K::kFloat},
    DTypeInfo{DType::f8e4m3fnuz, "f8e4m3fnuz", 1, 1, K::kFloat},
    DTypeInfo{DType::f8e5m2fnuz, "f8e5m2fnuz", 1, 1, K::kFloat},
    DTypeInfo{DType::f8e8m0,  "f8e8m0",   1,   1, K::kFloat},
    DTypeInfo{DType::f4e2m1,  "f4e2m1",   2,   1, K::kFloat},
    DTypeInfo{DType::i2,      "i2",       4,   1, K::kInteger},
    DTypeInfo{DType::u2,      "u2",       4,   1, K::kInteger},
    DTypeInfo{DType::i4,      "i4",       2,   1, K::kInteger},
    DTypeInfo{DType::u4,      "u4",       2,   1, K::kInteger},
    DTypeInfo{DType::i8,      "i8",       1,   1, K::kInteger},
    DTypeInfo{DType::i16,     "i16",      1,   2, K::kInteger},
    DTypeInfo{DType::i32,     "i32",      1,   4, K::kInteger},
    DTypeInfo{DType::i64,     "i64",      1,   8, K::kInteger},
    DTypeInfo{DType::u8,      "u8",       1,   1, K::kInteger},
    DTypeInfo{DType::u16,     "u16",      1,   2, K::kInteger},
    DTypeInfo{DType::u32,     "u32",      1,   4, K::kInteger},
    DTypeInfo{DType::u64,     "u64",      1,   8, K::kInteger},
    DTypeInfo{DType::boolean, "bool",     1,   1, K::kBool},
    DTypeInfo{DType::string,  "string",   1,   0, K::kString},
    DTypeInfo{DType::c64,     "c64",      1,   8, K::kComplex},
    DTypeInfo{DType::c128,    "c128",     1,  16, K::kComplex},
    DTypeInfo{DType::q4_0,    "q4_0",    32,  18, K::kBlock},
    DTypeInfo{DType::q4_1,    "q4_1",    32,  20, K::kBlock},
    DTypeInfo{DType::q5_0,    "q5_0",    32,  22, K::kBlock},
    DTypeInfo{DType::q5_1,    "q5_1",    32,  24, K::kBlock},
    DTypeInfo{DType::q8_0,    "q8_0",    32,  34, K::kBlock},
    DTypeInfo{DType::q2_k,    "q2_k",   256,  84, K::kBlock},
    DTypeInfo{DType::q3_k,    "q3_k",   256, 110, K::kBlock},
    DTypeInfo{DType::q4_k,    "q4_k",   256, 144, K::kBlock},
    DTypeInfo{DType::q5_k,    "q5_k",   256, 176, K::kBlock},
    DTypeInfo{DType::q6_k,    "q6_k",   256, 210, K::kBlock},
    DTypeInfo{DType::iq4_nl,  "iq4_nl",  32,  18, K::kBlock},
    DTypeInfo{DType::iq4_xs,  "iq4_xs", 256, 136, K::kBlock},
};
// clang-format on

constexpr bool table_is_in_enum_order() {
  for (size_t i = 0; i < kTable.size(); ++i)
    if (static_cast<size_t>(kTable[i].dtype) != i) return false;
  return kTable.size() == static_cast<size_t>(DType::kCount);
}
static_assert(table_is_in_enum_order());

}  // namespace

const DTypeInfo& dtype_info(DType dtype) {
  return kTable[static_cast<size_t>(dtype)];
}

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const DTypeInfo& row : kTable)
    if (row.name == name) return row.dtype;
  return std::nullopt;
}

std::optional<int64_t> dtype_bytes(DType dtype, int64_t elements) {
  const DTypeInfo& info = dtype_info(dtype);
  if (elements < 0) return std::nullopt;
  const int64_t left_over = elements % info.block_elements;
  if (left_over != 0 && is_block_format(dtype)) return std::nullopt;
  const int64_t blocks = elements / info.block_elements + (left_over != 0);
  int64_t bytes = 0;
  if (__builtin_mul_overflow(blocks, int64_t{info.block_bytes}, &bytes)) return std::nullopt;
  return bytes;
}

}  // namespace nereid
