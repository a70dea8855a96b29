// SPDX-License-Identifier: Apache-2.0
// Element types: plain ones and the block formats in which weights are stored (GGUF's names and layouts).
//
// A block format packs `block_elements` consecutive elements of a row into `block_bytes` bytes; plain types have
// block_elements 1. What the bytes of a block mean is said in quant/, one file a format. Types of less than a byte
// (f4e2m1, i4, u4: two elements a byte; i2, u2: four) are packed over the whole tensor, the first element lowest, and
// the last byte may be part empty. The elements of a string tensor are std::string objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nereid {

// clang-format off
enum class DType : uint8_t {
  // plain
  f32, f64, f16, bf16, f8e4m3, f8e5m2, f8e4m3fnuz, f8e5m2fnuz, f8e8m0, f4e2m1,
  i2, u2, i4, u4, i8, i16, i32, i64, u8, u16, u32, u64,
  boolean, string, c64, c128,
  // block formats
  q4_0, q4_1, q5_0, q5_1, q8_0,
  q2_k, q3_k, q4_k, q5_k, q6_k,
  iq4_nl, iq4_xs,
  kCount
};
// clang-format on

struct DTypeInfo {
  DType dtype;
  std::string_view name;    // "f32", "q4_1", ...: the text form everywhere
  uint16_t block_elements;  // elements that share one block; 1 for plain types, 2 or 4 for those below a byte
  uint16_t block_bytes;     // bytes of one block; 0 for string
  enum class Kind : uint8_t { kFloat, kInteger, kBool, kString, kComplex, kBlock } kind;
};

const DTypeInfo& dtype_info(DType dtype);
inline std::string_view dtype_name(DType dtype) {
  return dtype_info(dtype).name;
}
std::optional<DType> dtype_from_name(std::string_view name);

inline bool is_block_format(DType d) {
  return dtype_info(d).kind == DTypeInfo::Kind::kBlock;
}
inline bool is_float(DType d) {
  return dtype_info(d).kind == DTypeInfo::Kind::kFloat;
}
inline bool is_integer(DType d) {
  return dtype_info(d).kind == DTypeInfo::Kind::kInteger;
}

// Types whose elements share bytes.
inline bool is_sub_byte(DType d) {
  return dtype_info(d).block_elements != 1 && !is_block_format(d);
}

// Bytes of `elements` consecutive elements; nothing when the count is negative, not a whole number of blocks of a
// block format, or the product does not fit 63 bits (so a hostile file cannot make it wrap).
std::optional<int64_t> dtype_bytes(DType dtype, int64_t elements);

}  // namespace nereid
