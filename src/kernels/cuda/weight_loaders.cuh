// SPDX-License-Identifier: Apache-2.0
// How a warp gets 16 rows of a weight into the registers of mma.m16n8k16, 128 columns (a step) at a time.
//
// A loader has `Buffer`, what a step is before it is decoded; load(step, buffer), which only issues loads; and
// decode(buffer, piece, low, high): the words of rows g and g + 8 for the two matrix instructions of `piece` (of 4),
// which multiply the 8 columns of x from x_column(piece) on: words 2 i and 2 i + 1 are instruction i's. What decode
// leaves out is factor(row).
#pragma once

#include "kernels/cuda/device.cuh"
#include "kernels/cuda/weight.h"

namespace nereid::kernels::cuda {

inline constexpr int kStep = 128;  // columns

// Rows of two-byte floats: a lane reads 16 bytes, columns 8 t .. 8 t + 7 of each 32.
struct HalvesLoader {
  static constexpr int kScalePieces = 0;
  static constexpr int kDepth = 2;  // steps in registers, of all matrices of a block together
  static constexpr int kPad =
      64;  // bytes behind a row of x in shared memory that keep the lanes out of each other's banks
  struct Buffer {
    uint4 low[4], high[4];
  };
  const char* low;
  const char* high;
  int end;  // columns behind the lane's first

  __device__ HalvesLoader(const Weight& w, int64_t tile, int lane) {
    const int64_t row = tile * kTileRows + lane / 4, last = w.rows - 1;
    const char* data = static_cast<const char*>(w.data) + 16 * (lane % 4);
    low = data + 2 * w.stride * (row < last ? row : last);
    high = data + 2 * w.stride * (row + 8 < last ? row + 8 : last);
    end = static_cast<int>(w.cols) - 8 * (lane % 4);
  }
  __device__ static int x_column(int piece, int lane) { return 32 * piece + 8 * (lane % 4); }
  __device__ void load(int step, Buffer& b) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int col = step * kStep + 32 * i;
      if (col < end) {
        b.low[i] = load_stream(low + 2 * col);
        b.high[i] = load_stream(high + 2 * col);
      } else {
        b.low[i] = b.high[i] = make_uint4(0, 0, 0, 0);
      }
    }
  }
  template <typename T>
  __device__ void decode(const Buffer& b, int piece, uint32_t (&lo)[4], uint32_t (&hi)[4]) const {
    lo[0] = b.low[piece].x, lo[1] = b.low[piece].y, lo[2] = b.low[piece].z, lo[3] = b.low[piece].w;
    hi[0] = b.high[piece].x, hi[1] = b.high[piece].y, hi[2] = b.high[piece].z, hi[3] = b.high[piece].w;
  }
  __device__ static float factor(const Weight&, int64_t) {
    return 1.0f;
  }
};

// f16 words as T's.
template <typename T>
__device__ __forceinline__ uint32_t as_pair(uint32_t halves) {
  return halves;
}
template <>
__device__ __forceinline__ uint32_t as_pair<__nv_bfloat16>(uint32_t halves) {
  const float2 values = unpack2<__half>(halves);
  return pack2<__nv_bfloat16>(values.x, values.y);
}

// Rows of f8e4m3: a lane reads 16 bytes, columns 16 t .. 16 t + 15 of each 64. Decoded to f16 / kF8Factor, which is
// exact.
struct F8Loader {
  static constexpr int kScalePieces = 0;
  static constexpr int kDepth = 4;
  static constexpr int kPad = 16;
  struct Buffer {
    uint4 low[2], high[2];
  };
  const char* low;
  const char* high;
  int end;

  __device__ F8Loader(const Weight& w, int64_t tile, int lane) {
    const int64_t row = tile * kTileRows + lane / 4, last = w.rows - 1;
    const char* data = static_cast<const char*>(w.data) + 16 * (lane % 4);
    low = data + w.stride * (row < last ? row : last);
    high = data + w.stride * (row + 8 < last ? row + 8 : last);
    end = static_cast<int>(w.cols) - 16 * (lane % 4);
  }
  __device__ static int x_column(int piece, int lane) { return 64 * (piece / 2) + 16 * (lane % 4) + 8 * (piece % 2); }
  __device__ void load(int step, Buffer& b) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int col = step * kStep + 64 * i;
      if (col < end) {
        b.low[i] = load_stream(low + col);
        b.high[i] = load_stream(high + col);
      } else {
        b.low[i] = b.high[i] = make_uint4(0, 0, 0, 0);
      }
    }
  }
  template <typename T>
  __device__ static void spread(uint32_t bytes, uint32_t& first, uint32_t& second) {
    first = as_pair<T>(f8_pair(bytes & 0xffffu));
    second = as_pair<T>(f8_pair(bytes >> 16));
  }
  template <typename T>
  __device__ void decode(const Buffer& b, int piece, uint32_t (&lo)[4], uint32_t (&hi)[4]) const {
    const uint4& l = b.low[piece / 2];
    const uint4& h = b.high[piece / 2];
    spread<T>(piece % 2 == 0 ? l.x : l.z, lo[0], lo[1]);
    spread<T>(piece % 2 == 0 ? l.y : l.w, lo[2], lo[3]);
    spread<T>(piece % 2 == 0 ? h.x : h.z, hi[0], hi[1]);
    spread<T>(piece % 2 == 0 ? h.y : h.w, hi[2], hi[3]);
  }
  __device__ static float factor(const Weight& w, int64_t row) {
    return kF8Factor * w.scale * (w.row_scale == nullptr ? 1.0f : w.row_scale[row]);
  }
};

// Packed codes (weight.h): a step is a unit.
template <int kBits, int kGroup>
struct CodesLoader {
  static constexpr int kDepth = kBits == 4 && kGroup > 16 ? 4 : 2;
  static constexpr int kPad = 64;
  static constexpr int kGroups = kStep / kGroup;                // of a row of a unit
  static constexpr int kWords = kGroups < 2 ? 1 : kGroups / 2;  // 32-bit words of their scales
  static constexpr int kVectors = kBits == 4 ? 2 : 4;
  // Groups of 16 columns end within a matrix instruction: their scales go into the weights.
  static constexpr int kScalePieces = kGroup == 16 ? 0 : kGroup / 32;
  struct Buffer {
    uint4 codes[kVectors];
    uint32_t scale[2][kWords], offset[2][kWords];  // of rows g and g + 8
  };
  const char* tile_data;
  int unit;  // bytes
  int lane;
  uint32_t zero, zero_high;  // 1024 + zero twice, as halves; -(64 + zero) twice (for codes times 16)
  bool has_offset;

  __device__ CodesLoader(const Weight& w, int64_t tile, int lane_) : lane(lane_), has_offset(w.has_offset) {
    const int64_t last = tiles(w) - 1;
    unit = static_cast<int>(unit_bytes(w));
    tile_data = static_cast<const char*>(w.data) + (tile < last ? tile : last) * tile_bytes(w);
    const __half2 z = __float2half2_rn(1024.0f + static_cast<float>(w.zero));
    zero = *reinterpret_cast<const uint32_t*>(&z);
    const __half2 high = __float2half2_rn(-64.0f - static_cast<float>(w.zero));
    zero_high = *reinterpret_cast<const uint32_t*>(&high);
  }
  __device__ static int x_column(int piece, int lane) { return 32 * piece + 8 * (lane % 4); }

  __device__ static void load_words(const char* src, uint32_t (&words)[kWords]) {
    if constexpr (kWords == 4) {
      const uint4 v = __ldg(reinterpret_cast<const uint4*>(src));
      words[0] = v.x, words[1] = v.y, words[2] = v.z, words[3] = v.w;
    } else if constexpr (kWords == 2) {
      const uint2 v = __ldg(reinterpret_cast<const uint2*>(src));
      words[0] = v.x, words[1] = v.y;
    } else if constexpr (kGroups == 2) {
      words[0] = __ldg(reinterpret_cast<const uint32_t*>(src));
    } else {
      words[0] = __ldg(reinterpret_cast<const uint16_t*>(src));
    }
  }
  __device__ void load(int step, Buffer& b) const {
    const char* src = tile_data + static_cast<int64_t>(step) * unit;
    const char* rows = src + 2 * kGroups * (lane / 4);
    load_words(rows, b.scale[0]);
    load_words(rows + 16 * kGroups, b.scale[1]);
    src += 32 * kGroups;
    if (has_offset) {
      load_words(rows + 32 * kGroups, b.offset[0]);
      load_words(rows + 48 * kGroups, b.offset[1]);
      src += 32 * kGroups;
    } else {
#pragma unroll
      for (int i = 0; i < kWords; ++i) b.offset[0][i] = b.offset[1][i] = 0;
    }
#pragma unroll
    for (int i = 0; i < kVectors; ++i) b.codes[i] = load_stream(src + 512 * i + 16 * lane);
  }
  // The piece's scale in both halves of a word.
  __device__ uint32_t twice(const uint32_t (&words)[kWords], int piece) const {
    if constexpr (kGroups == 8) return __byte_perm(words[piece], 0, lane % 4 < 2 ? 0x1010 : 0x3232);
    if constexpr (kGroups == 4) return __byte_perm(words[piece / 2], 0, piece % 2 == 0 ? 0x1010 : 0x3232);
    if constexpr (kGroups == 2) return __byte_perm(words[0], 0, piece < 2 ? 0x1010 : 0x3232);
    return __byte_perm(words[0], 0, 0x1010);
  }
  // Of rows g and g + 8, for the group that piece is in.
  __device__ float2 scale_of(const uint32_t (&words)[2][kWords], int piece) const {
    return make_float2(unpack2<__half>(twice(words[0], piece)).x, unpack2<__half>(twice(words[1], piece)).x);
  }
  // Eight codes less their zero, as pairs of halves: exact.
  __device__ void integers(const Buffer& b, int piece, int row, uint32_t (&w)[4]) const {
    const __half2 z = *reinterpret_cast<const __half2*>(&zero);
    if constexpr (kBits == 4) {
      const __half2 z_high = *reinterpret_cast<const __half2*>(&zero_high), sixteenth = __float2half2_rn(0.0625f);
      const uint4& v = b.codes[piece / 2];
      const uint32_t word = piece % 2 == 0 ? (row == 0 ? v.x : v.y) : (row == 0 ? v.z : v.w);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const uint32_t shifted = i < 2 ? word : word >> 8;
        const uint32_t bits = (shifted & (i % 2 == 0 ? 0x000f000fu : 0x00f000f0u)) | 0x64006400u;
        const __half2 half = *reinterpret_cast<const __half2*>(&bits);
        const __half2 value = i % 2 == 0 ? __hsub2(half, z) : __hfma2(half, sixteenth, z_high);
        w[i] = *reinterpret_cast<const uint32_t*>(&value);
      }
    } else {
      const uint4& v = b.codes[piece];
      const uint32_t first = row == 0 ? v.x : v.z, second = row == 0 ? v.y : v.w;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const uint32_t bits = __byte_perm(i < 2 ? first : second, 0x64646464u, i % 2 == 0 ? 0x4140 : 0x4342);
        const __half2 value = __hsub2(*reinterpret_cast<const __half2*>(&bits), z);
        w[i] = *reinterpret_cast<const uint32_t*>(&value);
      }
    }
  }
  // Groups of 16, f16: one rounding. bf16: the same in f32, rounded once to bf16.
  template <typename T>
  __device__ static uint32_t weigh(uint32_t integers, uint32_t scale, uint32_t offset) {
    if constexpr (__is_same(T, __half)) {
      const __half2 w = __hfma2(*reinterpret_cast<const __half2*>(&integers), *reinterpret_cast<const __half2*>(&scale),
                                *reinterpret_cast<const __half2*>(&offset));
      return *reinterpret_cast<const uint32_t*>(&w);
    } else {
      const float2 c = unpack2<__half>(integers);
      const float s = unpack2<__half>(scale).x, o = unpack2<__half>(offset).x;
      return pack2<__nv_bfloat16>(fmaf(c.x, s, o), fmaf(c.y, s, o));
    }
  }
  template <typename T>
  __device__ void decode(const Buffer& b, int piece, uint32_t (&lo)[4], uint32_t (&hi)[4]) const {
    integers(b, piece, 0, lo);
    integers(b, piece, 1, hi);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if constexpr (kScalePieces != 0) {
        lo[i] = as_pair<T>(lo[i]);
        hi[i] = as_pair<T>(hi[i]);
      } else {
        lo[i] = weigh<T>(lo[i], twice(b.scale[0], piece), twice(b.offset[0], piece));
        hi[i] = weigh<T>(hi[i], twice(b.scale[1], piece), twice(b.offset[1], piece));
      }
    }
  }
  __device__ static float factor(const Weight&, int64_t) {
    return 1.0f;
  }
};

}  // namespace nereid::kernels::cuda
