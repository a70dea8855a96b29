// SPDX-License-Identifier: Apache-2.0
// Depthwise 3x3 convolution of codes: a row of three taps is a product of quads, 64 channels at a time.
//
// The bytes of four neighbouring pixels are interleaved once and serve two results side by side where the stride is 1:
// the taps are (w0 w1 w2 0) for one and (0 w0 w1 w2) for the other. Sums are exact, so all instruction sets agree.
// Channels leave the interleaving in another order (simd::interleave_bytes) and come back from it as they are packed.
// A source an instruction set includes this after its bytes (bytes_*.h).
#pragma once

#include "kernels/cpu/isa/conv_parts.h"
#include "kernels/cpu/isa/low_output.h"
#include "kernels/cpu/isa/low_parts.h"
#include "kernels/cpu/low_plan.h"

namespace nereid::kernels::NEREID_ISA {
namespace {

using simd::Bytes;
using simd::I32;

// What 64 bytes are: 64 channels of a pixel, fewer of them, or at most 32 of two pixels, two results apart.
enum class Lanes { kWhole, kPart, kTwice };

// Up to 64 channels of the input rows that one or two output rows want.
struct Strip {
  const LowConvParams& p;
  const std::byte* outside;  // 64 codes of zero
  const std::byte* rows[4] = {};
  int64_t steps[4] = {};  // bytes between pixels: 0 where the row is outside
  const std::byte* weight = nullptr;
  int64_t channel = 0;
  int channels = 0;
  bool plain = false, saturates = false;  // saturates: the type of the codes is the only bound
  LowBounds bounds;
  // In the order of interleaved channels: what a sum begins with, and what is done to it.
  alignas(64) int32_t begin[64] = {};
  alignas(64) float factor[64] = {};
  alignas(64) float shift[64] = {};
};

// The order of interleaved channels, from n numbers (at most 64); 32 and fewer stand in both halves.
template <typename T>
inline void to_interleaved(const T* from, int n, T* to) {
  const int distance = n > 32 ? 64 : 32;
  for (int c = 0; c < 64; c += 4) {
    T* q = to + c / 4 % 4 * 16 + c / 16 * 4;
    const int first = c % distance;
    if (first + 4 <= n)
      std::memcpy(q, from + first, 16);
    else
      for (int i = 0; i < 4; ++i) q[i] = first + i < n ? from[first + i] : T{0};
  }
}

// Whatever the epilogue asks for.
[[gnu::noinline]] inline void put_slowly(const Strip& s, const I32 (&sum)[4], int64_t row) {
  using namespace simd;
  alignas(64) float mixed[64], values[64];
  for (int i = 0; i < 4; ++i)
    store(mixed + 16 * i, simd::fma(to_f32(sum[i]), load(s.factor + 16 * i), load(s.shift + 16 * i)));
  for (int c = 0; c < 64; c += 4) std::memcpy(values + c, mixed + c / 4 % 4 * 16 + c / 16 * 4, 16);
  for (int c = 0; c < s.channels; c += 16)
    put_low(s.p.epilogue, load(values + c), row, s.channel + c, s.channels - c < 16 ? s.channels - c : 16,
            static_cast<std::byte*>(s.p.y), s.p.y_stride);
}

// The sums of a pixel's channels to their place.
template <Lanes kLanes>
[[gnu::always_inline]] inline void put_quads(const Strip& s, const I32 (&sum)[4], int64_t row) {
  using namespace simd;
  const LowEpilogue& e = s.p.epilogue;
  if (s.plain) {
    F32 u[4];
    unrolled<4>([&]<int i>() __attribute__((always_inline)) {
      u[i] = simd::fma(to_f32(sum[i]), load(s.factor + 16 * i), load(s.shift + 16 * i));
    });
    Bytes codes;
    if (s.saturates) {
      codes = gather_u8(to_i32(u[0]), to_i32(u[1]), to_i32(u[2]), to_i32(u[3]), e.y_zero);
    } else {
      I32 v[4];
      unrolled<4>([&]<int i>() __attribute__((always_inline)) {
        v[i] = iadd(to_i32(simd::min(simd::max(u[i], s.bounds.low), s.bounds.high)), iset1(e.y_zero));
      });
      codes = e.y_type == LowType::kU8 ? gather_u8(v[0], v[1], v[2], v[3]) : gather_s8(v[0], v[1], v[2], v[3]);
    }
    std::byte* y = static_cast<std::byte*>(s.p.y) + row * s.p.y_stride + s.channel;
    if constexpr (kLanes == Lanes::kWhole)
      store_bytes(y, codes);
    else if constexpr (kLanes == Lanes::kTwice)
      store_two(y, y + 2 * s.p.y_stride, codes, s.channels);
    else
      store_bytes(y, codes, s.channels);
    return;
  }
  const I32 copy[4] = {sum[0], sum[1], sum[2], sum[3]};  // in memory on this path alone
  put_slowly(s, copy, row);
}

// Whether nothing but the type bounds a code: relu and clip may end where the type does.
inline bool only_saturates(const LowEpilogue& e) {
  const float high = e.act == Act::kClip ? e.beta * e.y_inverse_scale : 1000.0f;
  return e.y_type == LowType::kU8 && is_plain(e) && is_bounded_above(e) && e.y_zero >= 0 && e.y_zero <= 255 &&
         high >= static_cast<float>(255 - e.y_zero);
}

// Where the pixels of some columns of an input row lie. At the edges each is looked at, elsewhere they follow each
// other.
template <int kColumns, bool kEdge>
struct Pixels {
  const std::byte* at[kColumns];
  Pixels(const Strip& s, int i, int64_t left) {
    const int64_t width = s.p.shape.in_w;
    for (int j = 0; j < kColumns; ++j)
      at[j] = left + j >= 0 && left + j < width ? s.rows[i] + (left + j) * s.steps[i] : s.outside;
  }
  const std::byte* operator[](int j) const { return at[j]; }
};
template <int kColumns>
struct Pixels<kColumns, false> {
  const std::byte* first;
  int64_t step;
  Pixels(const Strip& s, int i, int64_t left) : first(s.rows[i] + left * s.steps[i]), step(s.steps[i]) {}
  const std::byte* operator[](int j) const { return first + j * step; }
};

// T results of each of R output rows from column ow on, and T more of narrow blocks (then T is 2); row: of y, of the
// first of them.
template <int S, int T, int R, Lanes kLanes, bool kFlip, bool kEdge>
[[gnu::noinline]] void run_quads(const Strip& s, int64_t ow, int64_t row) {
  using namespace simd;
  constexpr int kColumns = (T - 1) * S + 3, kRows = R + 2;
  const ConvShape& shape = s.p.shape;
  constexpr int kAll = kLanes == Lanes::kTwice ? kColumns + 2 * S : kColumns;
  I32 sum[R][T][4];
  unrolled<4>([&]<int c>() {
    const I32 first = load_i32(s.begin + 16 * c);
    unrolled<R>([&]<int r>() { unrolled<T>([&]<int t>() { sum[r][t][c] = first; }); });
  });
  unrolled<kRows>([&]<int i>() __attribute__((always_inline)) {
    const Pixels<kAll, kEdge> in(s, i, ow * S - shape.pad_left);
    Bytes x[kColumns];
    unrolled<kColumns>([&]<int j>() __attribute__((always_inline)) {
      if constexpr (kLanes == Lanes::kWhole)
        x[j] = load_bytes(in[j]);
      else if constexpr (kLanes == Lanes::kTwice)
        x[j] = load_two(in[j], in[j + 2 * S], s.channels);
      else
        x[j] = load_bytes(in[j], s.channels);
      if constexpr (kFlip) x[j] = flip_signs(x[j]);
    });
    // With stride 1 a quad serves two results.
    constexpr int kShare = S == 1 && T % 2 == 0 ? 2 : 1;
    unrolled<T / kShare>([&]<int u>() __attribute__((always_inline)) {
      constexpr int first = u * kShare * S;
      Bytes q[4];
      interleave_bytes(x[first], x[first + 1], x[first + 2], x[kShare == 2 ? first + 3 : first + 2], q);
      unrolled<R>([&]<int r>() __attribute__((always_inline)) {
        constexpr int kh = i - r;
        if constexpr (kh >= 0 && kh < 3)
          unrolled<kShare>([&]<int t>() __attribute__((always_inline)) {
            const std::byte* w = s.weight + 256 + (kh * 2 + t) * 256;
            unrolled<4>([&]<int c>() __attribute__((always_inline)) {
              sum[r][u * kShare + t][c] = dot_bytes(sum[r][u * kShare + t][c], q[c], w + 64 * c);
            });
          });
      });
    });
  });
  unrolled<R>([&]<int r>() __attribute__((always_inline)) {
    unrolled<T>([&]<int t>() __attribute__((always_inline)) {
      put_quads<kLanes>(s, sum[r][t], row + r * shape.out_w + ow + t);
    });
  });
}

// Two results of each row at a time, or twice two, as long as there are so many; the column where it ends.
template <int S, int R, Lanes kLanes, bool kFlip>
int64_t run_pairs(const Strip& s, int64_t ow, int64_t row) {
  constexpr int64_t kStep = kLanes == Lanes::kTwice ? 4 : 2, kColumns = (kStep - 1) * S + 3;
  const ConvShape& shape = s.p.shape;
  for (; ow + kStep <= shape.out_w; ow += kStep) {
    const int64_t left = ow * S - shape.pad_left;
    left >= 0 && left + kColumns <= shape.in_w ? run_quads<S, 2, R, kLanes, kFlip, false>(s, ow, row)
                                               : run_quads<S, 2, R, kLanes, kFlip, true>(s, ow, row);
  }
  return ow;
}
template <int S, int R, Lanes kLanes, bool kFlip>
void run_strip(const Strip& s, int64_t row) {
  int64_t ow = 0;
  if constexpr (kLanes == Lanes::kPart)
    if (s.channels <= 32 && s.plain) ow = run_pairs<S, R, Lanes::kTwice, kFlip>(s, ow, row);
  ow = run_pairs<S, R, kLanes, kFlip>(s, ow, row);
  if (ow < s.p.shape.out_w) run_quads<S, 1, R, kLanes, kFlip, true>(s, ow, row);
}
template <bool kFlip>
void run_strip(const Strip& s, int64_t row, bool two) {
  constexpr Lanes kAll = Lanes::kWhole, kPart = Lanes::kPart;
  const bool whole = s.channels == 64;
  if (s.p.shape.stride_w == 1) {
    if (two) return whole ? run_strip<1, 2, kAll, kFlip>(s, row) : run_strip<1, 2, kPart, kFlip>(s, row);
    return whole ? run_strip<1, 1, kAll, kFlip>(s, row) : run_strip<1, 1, kPart, kFlip>(s, row);
  }
  if (two) return whole ? run_strip<2, 2, kAll, kFlip>(s, row) : run_strip<2, 2, kPart, kFlip>(s, row);
  return whole ? run_strip<2, 1, kAll, kFlip>(s, row) : run_strip<2, 1, kPart, kFlip>(s, row);
}

// What 64 channels of all rows have in common.
void begin_block(Strip& s, int64_t block) {
  using namespace simd;
  const LowConvParams& p = s.p;
  const LowEpilogue& e = p.epilogue;
  s.channel = 64 * block;
  s.channels = static_cast<int>(p.shape.in_c - s.channel < 64 ? p.shape.in_c - s.channel : 64);
  s.weight = p.weight + block * kQuadBlockBytes;
  const int32_t code = p.x_zero + (p.x_type == LowType::kS8 ? 128 : 0);
  const auto* sums = reinterpret_cast<const int32_t*>(s.weight);
  for (int c = 0; c < 64; ++c) s.begin[c] = -code * sums[c];
  if (e.scale) to_interleaved(e.scale + s.channel, s.channels, s.factor);
  if (e.bias) to_interleaved(e.bias + s.channel, s.channels, s.shift);
  F32 factors = simd::zero(), shifts = simd::zero();
  for (int c = 0; c < 64; c += 16) {
    if (!e.scale) store(s.factor + c, set1(1.0f));
    if (!s.plain) continue;
    const F32 factor = mul(load(s.factor + c), set1(e.y_inverse_scale));
    const F32 shift = mul(load(s.shift + c), set1(e.y_inverse_scale));
    store(s.factor + c, factor);
    store(s.shift + c, shift);
    factors = simd::max(factors, simd::abs(factor));
    shifts = simd::max(shifts, simd::abs(shift));
  }
  // No sum of nine products (below 2^19) is beyond what to_i32 is exact for then.
  s.saturates = s.plain && only_saturates(e) && reduce_max(factors) < 1e3f && reduce_max(shifts) < 1e9f;
}
// One or two output rows.
void run_rows(Strip& s, int64_t image, int64_t oh, bool two) {
  const LowConvParams& p = s.p;
  const ConvShape& shape = p.shape;
  for (int r = 0; r < (two ? 4 : 3); ++r) {
    const int64_t h = oh * shape.stride_h - shape.pad_top + r;
    const bool inside = h >= 0 && h < shape.in_h;
    s.steps[r] = inside ? p.x_stride : 0;
    s.rows[r] =
        inside ? static_cast<const std::byte*>(p.x) + (image * shape.in_h + h) * shape.in_w * p.x_stride + s.channel
               : s.outside;
  }
  const int64_t row = (image * shape.out_h + oh) * shape.out_w;
  p.x_type == LowType::kS8 ? run_strip<true>(s, row, two) : run_strip<false>(s, row, two);
  if (const LowEpilogue& e = p.epilogue; e.map)
    e.map_codes(e.map, static_cast<std::byte*>(p.y) + row * p.y_stride + s.channel, p.y_stride,
                (two ? 2 : 1) * shape.out_w, s.channels);
}
constexpr int64_t least_of(int64_t a, int64_t b) {
  return a < b ? a : b;
}

}  // namespace

void low_depthwise_quads(const LowConvParams& p, Worker& worker) {
  constexpr int64_t kStay = 256 << 10;  // bytes of rows that stay in L2 while blocks of channels pass over them
  const ConvShape& s = p.shape;
  alignas(64) std::byte outside[64];
  std::memset(outside, p.x_zero & 0xff, sizeof(outside));
  Strip strip{.p = p, .outside = outside, .bounds = bounds_of<LowType::kU8>(p.epilogue)};
  strip.plain = is_plain(p.epilogue) && !p.epilogue.residual && low_is_int8(p.epilogue.y_type);
  // Units: one or two output rows, and, where these are too few for the team, parts of the channels.
  const int64_t height = s.stride_h == 1 ? 2 : 1, groups = (s.out_h + height - 1) / height, units = s.batch * groups;
  const int64_t blocks = (s.in_c + 63) / 64;
  const int64_t wanted = worker.count() == 1 ? 1 : (4 * worker.count() + units - 1) / units;
  const int64_t parts = wanted < blocks ? wanted : blocks;
  const int64_t fit = kStay / (height * s.stride_h * s.in_w * p.x_stride) + 1;
  const auto [begin, end] = worker.slice(units * parts);
  for (int64_t part = 0; part < parts; ++part) {
    // Units u of this part, of which u * parts + part is this worker's.
    const int64_t last = (end - part + parts - 1) / parts;
    for (int64_t u = (begin - part + parts - 1) / parts, many; u < last; u += many) {
      const int64_t image = u / groups, first = u % groups;
      many = least_of(least_of(last - u, groups - first), fit);
      for (int64_t block = blocks * part / parts; block < blocks * (part + 1) / parts; ++block) {
        begin_block(strip, block);
        for (int64_t oh = first * height; oh < (first + many) * height && oh < s.out_h; oh += height)
          run_rows(strip, image, oh, height == 2 && oh + 1 < s.out_h);
      }
    }
  }
}

}  // namespace nereid::kernels::NEREID_ISA
