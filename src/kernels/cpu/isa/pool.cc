// SPDX-License-Identifier: Apache-2.0
// Pooling and resizing: 16 channels to a vector, output rows shared among the team.
#include "kernels/cpu/pool.h"

#include <cstring>

#include "kernels/cpu/isa/conv_parts.h"
#include "kernels/cpu/isa_kernels.h"

#include NEREID_ISA_HEADER

namespace nereid::kernels::NEREID_ISA {
namespace {

using simd::F32;

F32 get(const float* p, int n) {
  return n == 16 ? simd::load(p) : simd::load_partial(p, n);
}
void put(float* p, F32 v, int n) {
  n == 16 ? simd::store(p, v) : simd::store_partial(p, v, n);
}
// NaN stays: max(a, b) gives b where either is one.
F32 larger(F32 best, F32 v) {
  return simd::select(simd::equal(best, best), simd::max(best, v), best);
}

// Numbers of x, and where results go: codes stay codes only when the largest is taken.
template <LowType kType>
[[gnu::always_inline]] inline F32 get_as(const std::byte* p, int n) {
  if constexpr (kType == LowType::kF32) return get(reinterpret_cast<const float*>(p), n);
  alignas(32) std::byte t[32] = {};
  if (n < 16) {
    std::memcpy(t, p, static_cast<size_t>(n * low_bytes(kType)));
    p = t;
  }
  if constexpr (kType == LowType::kBF16) return simd::load_bf16(reinterpret_cast<const uint16_t*>(p));
  if constexpr (kType == LowType::kU8) return simd::load_u8(reinterpret_cast<const uint8_t*>(p));
  return simd::load_s8(reinterpret_cast<const int8_t*>(p));
}
template <LowType kType>
[[gnu::always_inline]] inline void put_as(std::byte* p, F32 v, int n) {
  if constexpr (kType == LowType::kF32) return put(reinterpret_cast<float*>(p), v, n);
  alignas(32) std::byte t[32];
  std::byte* to = n < 16 ? t : p;
  if constexpr (kType == LowType::kBF16) simd::store_bf16(reinterpret_cast<uint16_t*>(to), v);
  if constexpr (kType == LowType::kU8) simd::store_u8(reinterpret_cast<uint8_t*>(to), simd::to_i32(v));
  if constexpr (kType == LowType::kS8) simd::store_i8(reinterpret_cast<int8_t*>(to), simd::to_i32(v));
  if (n < 16) std::memcpy(p, t, static_cast<size_t>(n * low_bytes(kType)));
}

// Codes are finite, and above this.
template <LowType kType>
constexpr float kLeast = !low_is_int8(kType) ? -__builtin_huge_valf() : -128.0f;

// Steps in bytes.
template <bool kIsMax, LowType kType, int J>
[[gnu::always_inline]] inline void pool_window(const std::byte* x, int64_t row_step, int64_t rows, int64_t step,
                                               int64_t columns, int n, F32 scale, std::byte* y) {
  constexpr int64_t kFrom = 16 * low_bytes(kType), kTo = kIsMax ? kFrom : 64;
  F32 sum[J];
  unrolled<J>([&]<int j>() { sum[j] = simd::set1(kIsMax ? kLeast<kType> : 0.0f); });
  for (int64_t i = 0; i < rows; ++i, x += row_step) {
    const std::byte* q = x;
    for (int64_t k = 0; k < columns; ++k, q += step)
      unrolled<J>([&]<int j>() __attribute__((always_inline)) {
        const F32 v = get_as<kType>(q + kFrom * j, n);
        sum[j] = !kIsMax ? simd::add(sum[j], v) : !low_is_int8(kType) ? larger(sum[j], v) : simd::max(sum[j], v);
      });
  }
  unrolled<J>([&]<int j>() __attribute__((always_inline)) {
    if constexpr (kIsMax)
      put_as<kType>(y + kTo * j, sum[j], n);
    else
      put_as<LowType::kF32>(y + kTo * j, simd::mul(sum[j], scale), n);
  });
}

template <bool kIsMax, LowType kType>
void pool_row(const PoolParams& p, int64_t r) {
  constexpr int64_t kFrom = low_bytes(kType), kTo = kIsMax ? kFrom : 4;
  const int64_t image = r / p.out_h, oh = r % p.out_h;
  const int64_t top = oh * p.stride_h - p.pad_top;
  const Taps h = taps_inside(top, p.dilation_h, p.kernel_h, p.in_h);
  const Taps padded_h = taps_inside(top + p.pad_top, p.dilation_h, p.kernel_h, p.in_h + p.pad_top + p.pad_bottom);
  const std::byte* rows = static_cast<const std::byte*>(p.x) +
                          (image * p.in_h + top + h.begin * p.dilation_h) * p.in_w * p.x_stride * kFrom;
  std::byte* y = static_cast<std::byte*>(p.y) + r * p.out_w * p.y_stride * kTo;
  for (int64_t ow = 0; ow < p.out_w; ++ow, y += p.y_stride * kTo) {
    const int64_t left = ow * p.stride_w - p.pad_left;
    const Taps w = taps_inside(left, p.dilation_w, p.kernel_w, p.in_w);
    const Taps padded_w = taps_inside(left + p.pad_left, p.dilation_w, p.kernel_w, p.in_w + p.pad_left + p.pad_right);
    const int64_t count = p.kind == PoolParams::Kind::kAverageWithPad
                              ? (padded_h.end - padded_h.begin) * (padded_w.end - padded_w.begin)
                              : (h.end - h.begin) * (w.end - w.begin);
    const F32 scale = simd::set1(1.0f / static_cast<float>(count));
    const std::byte* x = rows + (left + w.begin * p.dilation_w) * p.x_stride * kFrom;
    const int64_t row_step = p.dilation_h * p.in_w * p.x_stride * kFrom, step = p.dilation_w * p.x_stride * kFrom;
    int64_t c = 0;
    for (; c + 64 <= p.c; c += 64)
      pool_window<kIsMax, kType, 4>(x + c * kFrom, row_step, h.end - h.begin, step, w.end - w.begin, 16, scale,
                                    y + c * kTo);
    for (; c < p.c; c += 16)
      pool_window<kIsMax, kType, 1>(x + c * kFrom, row_step, h.end - h.begin, step, w.end - w.begin,
                                    static_cast<int>(p.c - c < 16 ? p.c - c : 16), scale, y + c * kTo);
  }
}

// Channels [first, first + 64) of one image's mean or maximum.
template <bool kIsMax, LowType kType>
void global_block(const GlobalPoolParams& p, int64_t image, int64_t first) {
  constexpr int64_t kFrom = low_bytes(kType), kTo = kIsMax ? kFrom : 4;
  const F32 scale = simd::set1(1.0f / static_cast<float>(p.pixels));
  const std::byte* x = static_cast<const std::byte*>(p.x) + image * p.pixels * p.x_stride * kFrom;
  std::byte* y = static_cast<std::byte*>(p.y) + image * p.y_stride * kTo;
  const int64_t step = p.x_stride * kFrom;
  if (first + 64 <= p.c) {
    pool_window<kIsMax, kType, 4>(x + first * kFrom, 0, 1, step, p.pixels, 16, scale, y + first * kTo);
    return;
  }
  for (int64_t c = first; c < p.c; c += 16)
    pool_window<kIsMax, kType, 1>(x + c * kFrom, 0, 1, step, p.pixels, static_cast<int>(p.c - c < 16 ? p.c - c : 16),
                                  scale, y + c * kTo);
}

template <LowType kType>
void pool_as(const PoolParams& p, Worker& worker) {
  const auto [begin, end] = worker.slice(p.batch * p.out_h);
  for (int64_t r = begin; r < end; ++r)
    p.kind == PoolParams::Kind::kMax ? pool_row<true, kType>(p, r) : pool_row<false, kType>(p, r);
}

template <LowType kType>
void global_pool_as(const GlobalPoolParams& p, Worker& worker) {
  const int64_t blocks = (p.c + 63) / 64;
  const auto [begin, end] = worker.slice(p.batch * blocks);
  for (int64_t i = begin; i < end; ++i)
    p.is_max ? global_block<true, kType>(p, i / blocks, i % blocks * 64)
             : global_block<false, kType>(p, i / blocks, i % blocks * 64);
}

}  // namespace

void pool(const PoolParams& p, Worker& worker) {
  if (p.x_type == LowType::kU8) return pool_as<LowType::kU8>(p, worker);
  if (p.x_type == LowType::kS8) return pool_as<LowType::kS8>(p, worker);
  if (p.x_type == LowType::kBF16) return pool_as<LowType::kBF16>(p, worker);
  pool_as<LowType::kF32>(p, worker);
}

void global_pool(const GlobalPoolParams& p, Worker& worker) {
  if (p.x_type == LowType::kU8) return global_pool_as<LowType::kU8>(p, worker);
  if (p.x_type == LowType::kS8) return global_pool_as<LowType::kS8>(p, worker);
  if (p.x_type == LowType::kBF16) return global_pool_as<LowType::kBF16>(p, worker);
  global_pool_as<LowType::kF32>(p, worker);
}

void resize(const ResizeParams& p, Worker& worker) {
  using namespace simd;
  const auto [begin, end] = worker.slice(p.batch * p.out_h);
  for (int64_t r = begin; r < end; ++r) {
    const int64_t image = r / p.out_h, oh = r % p.out_h;
    const float* x = p.x + image * p.in_h * p.in_w * p.x_stride;
    const float* upper = x + p.y0[oh] * p.in_w * p.x_stride;
    const float* lower = p.y1 ? x + p.y1[oh] * p.in_w * p.x_stride : upper;
    const float wy = p.y_weight ? p.y_weight[oh] : 0.0f;
    float* y = p.y + r * p.out_w * p.y_stride;
    const auto columns = [&](auto f) {
      for (int64_t c = 0; c < p.c; c += 16) f(c, static_cast<int>(p.c - c < 16 ? p.c - c : 16));
    };
    for (int64_t ow = 0; ow < p.out_w; ++ow, y += p.y_stride) {
      const int64_t left = p.x0[ow] * p.x_stride;
      if (!p.y_weight && !p.x_weight) {
        columns([&](int64_t c, int n) { put(y + c, get(upper + left + c, n), n); });
        continue;
      }
      const int64_t right = p.x1 ? p.x1[ow] * p.x_stride : left;
      const float wx = p.x_weight ? p.x_weight[ow] : 0.0f;
      const F32 a = set1(1.0f - wx), b = set1(wx), u = set1(1.0f - wy), v = set1(wy);
      columns([&](int64_t c, int n) {
        const F32 top = simd::fma(get(upper + right + c, n), b, mul(get(upper + left + c, n), a));
        const F32 bottom = simd::fma(get(lower + right + c, n), b, mul(get(lower + left + c, n), a));
        put(y + c, simd::fma(bottom, v, mul(top, u)), n);
      });
    }
  }
}

void transpose(const TransposeParams& p, Worker& worker) {
  // Units of 64 columns of x, which are rows of y.
  const int64_t blocks = (p.cols + 63) / 64;
  const auto [begin, end] = worker.slice(p.batch * blocks);
  alignas(64) float in[256], out[256];
  for (int64_t i = begin; i < end; ++i) {
    const float* x = p.x + i / blocks * p.x_batch_stride;
    float* y = p.y + i / blocks * p.y_batch_stride;
    const int64_t first = i % blocks * 64, last = first + 64 < p.cols ? first + 64 : p.cols;
    for (int64_t r = 0; r < p.rows; r += 16) {
      const int rows = static_cast<int>(p.rows - r < 16 ? p.rows - r : 16);
      for (int64_t c = first; c < last; c += 16) {
        const int columns = static_cast<int>(last - c < 16 ? last - c : 16);
        const float* src = x + r * p.x_stride + c;
        float* dst = y + c * p.y_stride + r;
        if (rows == 16 && columns == 16) {
          simd::transpose16(src, p.x_stride, 16, dst, p.y_stride);
          continue;
        }
        if (columns < 16) {
          for (int k = 0; k < rows; ++k) simd::store(in + 16 * k, simd::load_partial(src + k * p.x_stride, columns));
          simd::transpose16(in, 16, rows, out, 16);
        } else {
          simd::transpose16(src, p.x_stride, rows, out, 16);
        }
        if (rows == 16)
          for (int k = 0; k < columns; ++k) simd::store(dst + k * p.y_stride, simd::load(out + 16 * k));
        else if (rows == 3 && p.y_stride == 3)  // an image's colours: the neighbour's two follow at once
          for (int k = 0; k < columns; ++k)
            for (int j = 0; j < 3; ++j) dst[3 * k + j] = out[16 * k + j];
        else
          for (int k = 0; k < columns; ++k) simd::store_partial(dst + k * p.y_stride, simd::load(out + 16 * k), rows);
      }
    }
  }
}

}  // namespace nereid::kernels::NEREID_ISA
