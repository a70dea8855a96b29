// SPDX-License-Identifier: Apache-2.0
// Products and convolutions of bf16 with f32 sums, and of 8-bit activations with int8 weights and int32 sums.
//
//   bf16:  y = epilogue(a . b)                                              a bf16, or f32 rounded to it on the way
//   int8:  y = epilogue((sum of (a - a_zero) b) * scale[column])            a u8 or s8
// Results and residuals are f32, bf16, or 8-bit codes: code = saturate(round(y * y_inverse_scale) + y_zero), a residual
// code stands for (code - residual_zero) * residual_scale. Sums of 8-bit products are exact; AVX2 does not saturate.
//
// Packed b, one stream for every instruction set: panels of 16 columns as in gemm.h; `depth` neighbours of k (2 of
// bf16, 4 of int8) of a column lie together, so [k / depth][16][depth] is 64 bytes a step, as VDPBF16PS, VPDPBUSD and
// AMX tiles read it. k is padded to a multiple of depth with zeros. Weights of convolutions have k in the order (kh,
// kw, c). a_zero enters through column_offset[n] = -a_zero * sum over k of b[k, n] (low_column_offsets), s8 as u8 with
// a_zero
// + 128: the kernel copies s8 rows, so u8 is faster.
//
// An element's sum has one order for one instruction set whatever m, batch and threads: equal bits. Instruction sets
// differ in bf16 (AVX512_BF16 and AMX add pairs in their own way, flushing denormals), never in int8.
//
// Cost: 2 m n k operations; bytes m k sizeof(a) + k n sizeof(b) + m n sizeof(c). Bound: the dot-product units.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cpu_info.h"
#include "base/thread_pool.h"
#include "kernels/cpu/conv.h"
#include "kernels/cpu/epilogue.h"

namespace nereid::kernels {

enum class LowType : uint8_t { kF32, kBF16, kU8, kS8 };

constexpr int64_t low_bytes(LowType t) {
  return t == LowType::kF32 ? 4 : t == LowType::kBF16 ? 2 : 1;
}
// What is multiplied for activations of this type: bf16 (f32 is rounded to it) or int8.
constexpr bool low_is_int8(LowType a) {
  return a == LowType::kU8 || a == LowType::kS8;
}
constexpr int64_t low_depth(LowType a) {
  return low_is_int8(a) ? 4 : 2;
}

// What is done to the sums; strides in elements.
// Puts map[code] in the place of each code of rows x columns; strides in bytes.
using MapCodes = void (*)(const uint8_t* map, std::byte* y, int64_t stride, int64_t rows, int64_t columns);
// The fastest of an instruction set on this machine.
MapCodes map_codes_of(Isa isa);

struct LowEpilogue {
  const float* scale = nullptr;            // [n], int8 only
  const int32_t* column_offset = nullptr;  // [n], int8 only; null: a_zero is 0 (and a is u8)
  const float* bias = nullptr;             // [n]
  const void* residual = nullptr;          // [rows, n]
  LowType residual_type = LowType::kF32;
  int64_t residual_stride = 0;
  float residual_scale = 1;
  int32_t residual_zero = 0;
  bool residual_last = false;
  // Where sum_scale is not 0: before the residual is added, the number is rounded to that of a code between sum_low and
  // sum_high, (code - sum_zero) * sum_scale.
  float sum_scale = 0, sum_inverse_scale = 0;
  int32_t sum_zero = 0, sum_low = 0, sum_high = 255;
  Act act = Act::kNone;
  float alpha = 1, beta = 0;
  float act_scale = 1, act_shift = 0;  // of what the activation gives, before a residual_last
  LowType y_type = LowType::kF32;
  float y_inverse_scale = 1;
  int32_t y_zero = 0;
  // Where a network quantises twice: what each u8 code becomes in the end, [256].
  const uint8_t* map = nullptr;
  MapCodes map_codes = nullptr;
};

struct LowGemmParams {
  const void* a = nullptr;
  LowType a_type = LowType::kBF16;
  int64_t a_stride = 0;
  const std::byte* b = nullptr;  // low_pack, 64-byte aligned
  int64_t m = 0, n = 0, k = 0;
  void* c = nullptr;
  int64_t c_stride = 0;
  LowEpilogue epilogue;
  std::byte* scratch = nullptr;  // low_gemm_scratch_bytes, 64-byte aligned
};

struct LowConvParams {
  ConvShape shape;  // depthwise ones need no column_offset
  const void* x = nullptr;
  LowType x_type = LowType::kBF16;
  int64_t x_stride = 0;               // elements between pixels
  bool x_planes = false;              // x is [batch, 3, in_h, in_w] in f32: only for three colours, one group
  int32_t x_zero = 0;                 // the code that padding stands for, int8 only
  const std::byte* weight = nullptr;  // low_pack_conv, 64-byte aligned
  void* y = nullptr;
  int64_t y_stride = 0;
  LowEpilogue epilogue;          // scale, column_offset, bias: [out_c]
  std::byte* scratch = nullptr;  // low_conv_scratch_bytes, 64-byte aligned
};

constexpr bool low_conv_is_depthwise(const ConvShape& s) {
  return s.groups > 1 && s.groups == s.in_c && s.out_c == s.in_c;
}

// Bytes of a packed b for activations of type `a`.
int64_t low_packed_bytes(LowType a, int64_t k, int64_t n);
// Packs f32 [k, n] (or, transposed, [n, k]) rounded to bf16; or int8 likewise. On the calling thread.
void low_pack_bf16(const float* b, int64_t b_stride, bool transposed, int64_t k, int64_t n, std::byte* packed);
void low_pack_int8(const int8_t* b, int64_t b_stride, bool transposed, int64_t k, int64_t n, std::byte* packed);

// Convolution weights from OIHW. Depthwise ones are [kh kw][in_c to 16] in f32.
int64_t low_conv_weight_bytes(const ConvShape& s, LowType x);
void low_pack_conv_bf16(const ConvShape& s, const float* oihw, std::byte* packed);
void low_pack_conv_int8(const ConvShape& s, const int8_t* oihw, std::byte* packed);

// column_offset[n] from the weights' rows of k numbers (OIHW, or b^T): a_zero of the activations as they are stored.
void low_column_offsets(const int8_t* rows, int64_t n, int64_t k, LowType a, int32_t a_zero, int32_t* offsets);

int64_t low_gemm_scratch_bytes(const LowGemmParams& p, int workers);
int64_t low_conv_scratch_bytes(const ConvShape& s, LowType x, int workers);

}  // namespace nereid::kernels
