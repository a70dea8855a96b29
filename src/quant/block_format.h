// SPDX-License-Identifier: Apache-2.0
// From one block to rows: a block format says how one block unfolds and is made; decode, encode, dot and codes follow.
#pragma once

#include <concepts>
#include <cstdint>

#include "base/check.h"
#include "quant/format_table.h"
#include "quant/group_codes.h"

namespace nereid::quant {

// What the header of a block format declares, as a struct without data: the block's layout, its group form, and two
// functions on one block. kElements is the block's element count.
template <typename F>
concept BlockFormat = requires(const typename F::Block& block, typename F::Block& out, uint8_t* codes, float* scale,
                               float* min, const float* src) {
  { F::kDType } -> std::convertible_to<DType>;
  { F::kForm } -> std::convertible_to<GroupForm>;
  { F::kElements } -> std::convertible_to<int>;
  requires F::kElements % F::kForm.group == 0;
  requires F::kForm.code_bits >= 2 && F::kForm.code_bits <= 8;
  requires alignof(typename F::Block) <= 2;  // rows of a mapped file start at even addresses, no more is promised
  { F::unpack(block, codes, scale, min) } -> std::same_as<void>;
  { F::encode(src, out) } -> std::same_as<void>;
};

template <BlockFormat F>
void codes_row(const void* row, int64_t n, uint8_t* codes, float* scale, float* min) {
  NEREID_DCHECK(n % F::kElements == 0);
  constexpr int kGroups = F::kElements / F::kForm.group;
  const auto* block = static_cast<const typename F::Block*>(row);
  for (int64_t b = 0; b < n / F::kElements; ++b)
    F::unpack(block[b], codes + b * F::kElements, scale + b * kGroups, F::kForm.has_min ? min + b * kGroups : nullptr);
}

template <BlockFormat F>
void decode_row(const void* row, float* dst, int64_t n) {
  NEREID_DCHECK(n % F::kElements == 0);
  constexpr GroupForm kForm = F::kForm;
  constexpr int kGroups = F::kElements / kForm.group;
  uint8_t codes[F::kElements];
  float scale[kGroups];
  float min[kGroups] = {};
  const auto* block = static_cast<const typename F::Block*>(row);
  for (int64_t b = 0; b < n / F::kElements; ++b) {
    F::unpack(block[b], codes, scale, min);
    for (int i = 0; i < F::kElements; ++i) {
      const float product = scale[i / kForm.group] * static_cast<float>(codes[i] - kForm.zero);
      *dst++ = kForm.has_min ? product + min[i / kForm.group] : product;
    }
  }
}

template <BlockFormat F>
void encode_row(const float* src, void* row, int64_t n) {
  NEREID_DCHECK(n % F::kElements == 0);
  auto* block = static_cast<typename F::Block*>(row);
  for (int64_t b = 0; b < n / F::kElements; ++b) F::encode(src + b * F::kElements, block[b]);
}

// The dot product of any format whose rows decode in steps of kStep elements.
template <DecodeFn* kDecode, int kStep, int kStepBytes>
double dot_row(const void* row, const float* x, int64_t n) {
  float w[kStep];
  double sum = 0;
  const auto* bytes = static_cast<const unsigned char*>(row);
  for (int64_t i = 0; i < n; i += kStep, bytes += kStepBytes) {
    kDecode(bytes, w, kStep);
    for (int j = 0; j < kStep; ++j) sum += static_cast<double>(w[j]) * static_cast<double>(x[i + j]);
  }
  return sum;
}

template <BlockFormat F>
constexpr Format block_format() {
  return {.dtype = F::kDType,
          .decode = decode_row<F>,
          .encode = encode_row<F>,
          .dot = dot_row<decode_row<F>, F::kElements, sizeof(typename F::Block)>,
          .form = F::kForm,
          .codes = codes_row<F>};
}

}  // namespace nereid::quant
