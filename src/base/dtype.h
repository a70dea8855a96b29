// SPDX-License-Identifier: Apache-2.0
// Element types: plain ones and the block formats in which weights are stored (GGUF's names and layouts).
//
// A block format packs `block_elements` consecutive elements of a row into `block_bytes` bytes; plain types have
// block_elements 1 (i4/u4: 2 elements a byte). What the bytes of a block mean is said in quant/, one file a format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nereid {

// clang-format off
enum class DType : uint8_t {
  // plain
  f32, f64, f16, bf16, f8e4m3, f8e5m2,
  i4, u4, i8, i16, i32, i64, u8, u16, u32, u64,
  boolean, string,
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
  uint16_t block_elements;  // elements that share one block; 1 for plain types, 2 for i4/u4
  uint16_t block_bytes;     // bytes of one block; 0 for string
  enum class Kind : uint8_t { kFloat, kInteger, kBool, kString, kBlock } kind;
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

// Bytes of `elements` consecutive elements; nothing when the count is negative, not a whole number of blocks,
// or the product does not fit 63 bits (so a hostile file cannot make it wrap).
std::optional<int64_t> dtype_bytes(DType dtype, int64_t elements);

}  // namespace nereid
