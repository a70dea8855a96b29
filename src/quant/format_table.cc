// SPDX-License-Identifier: Apache-2.0
#include "quant/format_table.h"

#include <array>
#include <string>

#include "base/check.h"
#include "quant/block_format.h"
#include "quant/floats.h"
#include "quant/iq4_nl.h"
#include "quant/iq4_xs.h"
#include "quant/q2_k.h"
#include "quant/q3_k.h"
#include "quant/q4_0.h"
#include "quant/q4_1.h"
#include "quant/q4_k.h"
#include "quant/q5_0.h"
#include "quant/q5_1.h"
#include "quant/q5_k.h"
#include "quant/q6_k.h"
#include "quant/q8_0.h"

namespace nereid::quant {
namespace {

template <DecodeFn* kDecode, EncodeFn* kEncode, int kBytes>
constexpr Format float_format(DType dtype) {
  return {.dtype = dtype,
          .decode = kDecode,
          .encode = kEncode,
          .dot = dot_row<kDecode, 1, kBytes>,
          .form = {},
          .codes = nullptr};
}

// In the order of DType, so that the formats a reader meets in files and in messages come in one order everywhere.
// clang-format off
constexpr std::array kTable = {
    float_format<decode_f32,    encode_f32,    4>(DType::f32),
    float_format<decode_f64,    encode_f64,    8>(DType::f64),
    float_format<decode_f16,    encode_f16,    2>(DType::f16),
    float_format<decode_bf16,   encode_bf16,   2>(DType::bf16),
    float_format<decode_f8e4m3, encode_f8e4m3, 1>(DType::f8e4m3),
    float_format<decode_f8e5m2, encode_f8e5m2, 1>(DType::f8e5m2),
    block_format<Q4_0>(),
    block_format<Q4_1>(),
    block_format<Q5_0>(),
    block_format<Q5_1>(),
    block_format<Q8_0>(),
    block_format<Q2K>(),
    block_format<Q3K>(),
    block_format<Q4K>(),
    block_format<Q5K>(),
    block_format<Q6K>(),
    block_format<Iq4Nl>(),
    block_format<Iq4Xs>(),
};
// clang-format on

constexpr bool is_in_dtype_order() {
  for (size_t i = 1; i < kTable.size(); ++i)
    if (kTable[i - 1].dtype >= kTable[i].dtype) return false;
  return true;
}
static_assert(is_in_dtype_order());

// dtype -> row, -1 for the types without one.
constexpr auto kRowOf = [] {
  std::array<int8_t, static_cast<size_t>(DType::kCount)> rows{};
  rows.fill(-1);
  for (size_t i = 0; i < kTable.size(); ++i) rows[static_cast<size_t>(kTable[i].dtype)] = static_cast<int8_t>(i);
  return rows;
}();

std::string known_formats() {
  std::string list;
  for (const Format& row : kTable) list.append(list.empty() ? "" : ", ").append(dtype_name(row.dtype));
  return list;
}

}  // namespace

Result<const Format*> find_format(DType dtype) {
  const int row = kRowOf[static_cast<size_t>(dtype)];
  if (row < 0) return unsupported("{} is not a weight format; expected one of {}", dtype_name(dtype), known_formats());
  return &kTable[static_cast<size_t>(row)];
}

const Format& format(DType dtype) {
  const int row = kRowOf[static_cast<size_t>(dtype)];
  NEREID_CHECK(row >= 0);
  return kTable[static_cast<size_t>(row)];
}

std::span<const Format> all_formats() {
  return kTable;
}

}  // namespace nereid::quant
