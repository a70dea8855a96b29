// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution: 16 channels to a vector, several neighbouring output pixels to a tile.
//
// Taps outside the image are left out, so edges are pixels with fewer taps and cost nothing to pad. Pixels inside,
// tiles of kDepthwisePixels, share each tap's weight; channels run innermost, as memory does.
#include "kernels/cpu/isa/activation.h"
#include "kernels/cpu/isa/conv_parts.h"
#include "kernels/cpu/isa_kernels.h"

namespace nereid::kernels::NEREID_ISA {
namespace {

using simd::F32;

// The taps of one output row, and where its pixel 0 would begin.
struct Row {
  const float* x;       // row 0 of the window, input column -pad_left
  const float* weight;  // of the first row of taps inside
  int64_t taps_h;
  float* y;
  const float* residual;
};

[[gnu::noinline]] F32 finish(const Epilogue& e, F32 v) {
  return activate(e.act, e.alpha, e.beta, v);
}

// T pixels from `ow` on, taps [kw, kw_end) of each row.
template <int T>
[[gnu::always_inline]] inline void run_pixels(const ConvParams& p, const Row& row, int64_t ow, int64_t kw,
                                              int64_t kw_end) {
  using namespace simd;
  const ConvShape& s = p.shape;
  const Epilogue& e = p.epilogue;
  const int64_t channels = (s.in_c + 15) / 16 * 16;
  const int64_t step = s.stride_w * p.x_stride, tap = s.dilation_w * p.x_stride;
  const int64_t row_step = s.dilation_h * s.in_w * p.x_stride;
  const bool clamped = is_clamp(e.act);
  const F32 low = set1(clamp_low(e)), high = set1(clamp_high(e));
  for (int64_t c = 0; c < s.in_c; c += 16) {
    const int n = static_cast<int>(s.in_c - c < 16 ? s.in_c - c : 16);
    F32 sum[T];
    unrolled<T>([&]<int t>() { sum[t] = zero(); });
    const float* x_row = row.x + ow * step + kw * tap + c;
    const float* w_row = row.weight + kw * channels + c;
    const auto taps = [&](auto get) __attribute__((always_inline)) {
      for (int64_t i = 0; i < row.taps_h; ++i, x_row += row_step, w_row += s.kernel_w * channels) {
        const float* x = x_row;
        const float* w = w_row;
        for (int64_t j = kw; j < kw_end; ++j, x += tap, w += channels) {
          const F32 weight = load(w);
          unrolled<T>([&]<int t>()
                          __attribute__((always_inline)) { sum[t] = simd::fma(get(x + t * step), weight, sum[t]); });
        }
      }
    };
    if (n == 16) [[likely]]
      taps([](const float* q) __attribute__((always_inline)) { return load(q); });
    else
      taps([n](const float* q) __attribute__((always_inline)) { return load_partial(q, n); });
    const F32 bias = !e.bias ? zero() : n == 16 ? load(e.bias + c) : load_partial(e.bias + c, n);
    unrolled<T>([&]<int t>() {
      F32 v = simd::add(sum[t], bias);
      float* y = row.y + (ow + t) * p.y_stride + c;
      F32 residual = zero();
      if (row.residual) {
        const float* r = row.residual + (ow + t) * e.residual_stride + c;
        residual = n == 16 ? load(r) : load_partial(r, n);
        if (!e.residual_last) v = simd::add(v, residual);
      }
      v = clamped ? simd::min(high, simd::max(low, v)) : finish(e, v);
      if (row.residual && e.residual_last) v = simd::add(v, residual);
      if (n == 16) [[likely]]
        store(y, v);
      else
        store_partial(y, v, n);
    });
  }
}

}  // namespace

void conv_depthwise(const ConvParams& p, Worker& worker) {
  const ConvShape& s = p.shape;
  const int64_t channels = (s.in_c + 15) / 16 * 16;
  // Output columns whose windows lie inside: [inside, inside_end).
  int64_t inside = (s.pad_left + s.stride_w - 1) / s.stride_w;
  const int64_t reach = s.in_w - 1 + s.pad_left - (s.kernel_w - 1) * s.dilation_w;
  int64_t inside_end = reach < 0 ? 0 : reach / s.stride_w + 1;
  inside = inside < s.out_w ? inside : s.out_w;
  inside_end = inside_end < s.out_w ? inside_end : s.out_w;
  if (inside_end < inside) inside_end = inside;
  const auto [begin, end] = worker.slice(s.batch * s.out_h);
  for (int64_t r = begin; r < end; ++r) {
    const int64_t image = r / s.out_h, oh = r % s.out_h;
    const Taps h = taps_inside(oh * s.stride_h - s.pad_top, s.dilation_h, s.kernel_h, s.in_h);
    const int64_t in_row = oh * s.stride_h - s.pad_top + h.begin * s.dilation_h;
    const Row row = {
        .x = p.x + ((image * s.in_h + in_row) * s.in_w - s.pad_left) * p.x_stride,
        .weight = p.weight + h.begin * s.kernel_w * channels,
        .taps_h = h.end - h.begin,
        .y = p.y + r * s.out_w * p.y_stride,
        .residual = p.epilogue.residual ? p.epilogue.residual + r * s.out_w * p.epilogue.residual_stride : nullptr};
    const auto edge = [&](int64_t from, int64_t to) {
      for (int64_t ow = from; ow < to; ++ow) {
        const Taps w = taps_inside(ow * s.stride_w - s.pad_left, s.dilation_w, s.kernel_w, s.in_w);
        run_pixels<1>(p, row, ow, w.begin, w.end);
      }
    };
    edge(0, inside);
    int64_t ow = inside;
    constexpr int T = simd::kDepthwisePixels;
    for (; ow + T <= inside_end; ow += T) run_pixels<T>(p, row, ow, 0, s.kernel_w);
    if constexpr (T >= 8)
      for (; ow + 4 <= inside_end; ow += 4) run_pixels<4>(p, row, ow, 0, s.kernel_w);
    for (; ow + 2 <= inside_end; ow += 2) run_pixels<2>(p, row, ow, 0, s.kernel_w);
    edge(ow, s.out_w);
  }
}

}  // namespace nereid::kernels::NEREID_ISA
