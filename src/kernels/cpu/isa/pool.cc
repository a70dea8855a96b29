// SPDX-License-Identifier: Apache-2.0
// Pooling and resizing: 16 channels to a vector, output rows shared among the team.
#include "kernels/cpu/pool.h"

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

constexpr float kMinusInfinity = -__builtin_huge_valf();

template <bool kIsMax, int J>
[[gnu::always_inline]] inline void pool_window(const float* x, int64_t row_step, int64_t rows, int64_t step,
                                               int64_t columns, int n, F32 scale, float* y) {
  F32 sum[J];
  unrolled<J>([&]<int j>() { sum[j] = simd::set1(kIsMax ? kMinusInfinity : 0.0f); });
  for (int64_t i = 0; i < rows; ++i, x += row_step) {
    const float* q = x;
    for (int64_t k = 0; k < columns; ++k, q += step)
      unrolled<J>([&]<int j>() {
        const F32 v = get(q + 16 * j, n);
        sum[j] = kIsMax ? larger(sum[j], v) : simd::add(sum[j], v);
      });
  }
  unrolled<J>([&]<int j>() { put(y + 16 * j, kIsMax ? sum[j] : simd::mul(sum[j], scale), n); });
}

template <bool kIsMax>
void pool_row(const PoolParams& p, int64_t r) {
  const int64_t image = r / p.out_h, oh = r % p.out_h;
  const int64_t top = oh * p.stride_h - p.pad_top;
  const Taps h = taps_inside(top, p.dilation_h, p.kernel_h, p.in_h);
  const Taps padded_h = taps_inside(top + p.pad_top, p.dilation_h, p.kernel_h, p.in_h + p.pad_top + p.pad_bottom);
  const float* rows = p.x + (image * p.in_h + top + h.begin * p.dilation_h) * p.in_w * p.x_stride;
  float* y = p.y + r * p.out_w * p.y_stride;
  for (int64_t ow = 0; ow < p.out_w; ++ow, y += p.y_stride) {
    const int64_t left = ow * p.stride_w - p.pad_left;
    const Taps w = taps_inside(left, p.dilation_w, p.kernel_w, p.in_w);
    const Taps padded_w = taps_inside(left + p.pad_left, p.dilation_w, p.kernel_w, p.in_w + p.pad_left + p.pad_right);
    const int64_t count = p.kind == PoolParams::Kind::kAverageWithPad
                              ? (padded_h.end - padded_h.begin) * (padded_w.end - padded_w.begin)
                              : (h.end - h.begin) * (w.end - w.begin);
    const F32 scale = simd::set1(1.0f / static_cast<float>(count));
    const float* x = rows + (left + w.begin * p.dilation_w) * p.x_stride;
    const int64_t row_step = p.dilation_h * p.in_w * p.x_stride, step = p.dilation_w * p.x_stride;
    int64_t c = 0;
    for (; c + 64 <= p.c; c += 64)
      pool_window<kIsMax, 4>(x + c, row_step, h.end - h.begin, step, w.end - w.begin, 16, scale, y + c);
    for (; c < p.c; c += 16)
      pool_window<kIsMax, 1>(x + c, row_step, h.end - h.begin, step, w.end - w.begin,
                             static_cast<int>(p.c - c < 16 ? p.c - c : 16), scale, y + c);
  }
}

// Channels [c, c + 16 J) of one image's mean or maximum.
template <bool kIsMax, int J>
void global_window(const GlobalPoolParams& p, const float* x, int n, float* y) {
  pool_window<kIsMax, J>(x, 0, 1, p.x_stride, p.pixels, n, simd::set1(1.0f / static_cast<float>(p.pixels)), y);
}

}  // namespace

void pool(const PoolParams& p, Worker& worker) {
  const auto [begin, end] = worker.slice(p.batch * p.out_h);
  for (int64_t r = begin; r < end; ++r) p.kind == PoolParams::Kind::kMax ? pool_row<true>(p, r) : pool_row<false>(p, r);
}

void global_pool(const GlobalPoolParams& p, Worker& worker) {
  const int64_t blocks = (p.c + 63) / 64;
  const auto [begin, end] = worker.slice(p.batch * blocks);
  for (int64_t i = begin; i < end; ++i) {
    const float* x = p.x + i / blocks * p.pixels * p.x_stride;
    float* y = p.y + i / blocks * p.y_stride;
    const int64_t first = i % blocks * 64;
    if (first + 64 <= p.c) {
      p.is_max ? global_window<true, 4>(p, x + first, 16, y + first)
               : global_window<false, 4>(p, x + first, 16, y + first);
      continue;
    }
    for (int64_t c = first; c < p.c; c += 16) {
      const int n = static_cast<int>(p.c - c < 16 ? p.c - c : 16);
      p.is_max ? global_window<true, 1>(p, x + c, n, y + c) : global_window<false, 1>(p, x + c, n, y + c);
    }
  }
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
