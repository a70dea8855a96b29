// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution in low precision: numbers are widened to f32 as they are loaded. Sums of 8-bit products stay
// exact below 2^24, that is for up to 256 taps.
#include "kernels/cpu/isa/depthwise_tile.h"
#include "kernels/cpu/isa/low_output.h"
#include "kernels/cpu/isa/low_parts.h"
#include "kernels/cpu/low_plan.h"

namespace nereid::kernels::NEREID_ISA {
namespace {

template <LowType kType>
[[gnu::always_inline]] inline F32 widen(const std::byte* p) {
  if constexpr (kType == LowType::kF32) return simd::load(reinterpret_cast<const float*>(p));
  if constexpr (kType == LowType::kBF16) return simd::load_bf16(reinterpret_cast<const uint16_t*>(p));
  if constexpr (kType == LowType::kU8) return simd::load_u8(reinterpret_cast<const uint8_t*>(p));
  return simd::load_s8(reinterpret_cast<const int8_t*>(p));
}

// Adds a row of three taps to T results, kStride pixels apart: every pixel is widened once.
template <LowType kType, int T, int kStride>
[[gnu::always_inline]] inline void add_threes(const std::byte* q, int64_t pixel, const float* w, int64_t width,
                                              F32 (&sum)[T]) {
  const F32 left = simd::load(w), middle = simd::load(w + width), right = simd::load(w + 2 * width);
  unrolled<(T - 1) * kStride + 3>([&]<int j>() __attribute__((always_inline)) {
    const F32 in = widen<kType>(q + j * pixel);
    if constexpr (j % kStride == 0 && j / kStride < T) sum[j / kStride] = simd::fma(in, left, sum[j / kStride]);
    if constexpr (j >= 1 && (j - 1) % kStride == 0 && (j - 1) / kStride < T)
      sum[(j - 1) / kStride] = simd::fma(in, middle, sum[(j - 1) / kStride]);
    if constexpr (j >= 2 && (j - 2) % kStride == 0)
      sum[(j - 2) / kStride] = simd::fma(in, right, sum[(j - 2) / kStride]);
  });
}

// T pixels from (row, ow) on, taps h x v of each.
template <LowType kType, int T>
[[gnu::noinline]] void run_pixels(const LowConvParams& p, int64_t image, int64_t oh, int64_t ow, Taps h, Taps v) {
  using namespace simd;
  const ConvShape& s = p.shape;
  constexpr int64_t kBytes = low_bytes(kType);
  const int64_t width = (s.in_c + 15) / 16 * 16;
  const int64_t pixel = p.x_stride * kBytes, step = s.stride_w * pixel, tap = s.dilation_w * pixel;
  const int64_t top = oh * s.stride_h - s.pad_top, left = ow * s.stride_w - s.pad_left;
  const auto* x = static_cast<const std::byte*>(p.x) +
                  ((image * s.in_h + top + h.begin * s.dilation_h) * s.in_w + left + v.begin * s.dilation_w) * pixel;
  const auto* weight = reinterpret_cast<const float*>(p.weight) + (h.begin * s.kernel_w + v.begin) * width;
  const int64_t row = (image * s.out_h + oh) * s.out_w + ow;
  const F32 zero_code = set1(static_cast<float>(p.x_zero));
  const LowEpilogue& e = p.epilogue;
  const bool plain = is_plain(e) && !e.residual && low_is_int8(e.y_type) && e.scale;
  // Three taps in a row share what they read.
  const bool threes = v.end - v.begin == 3 && s.dilation_w == 1 && s.stride_w <= 2;
  for (int64_t c = 0; c < s.in_c; c += 16) {
    const int n = static_cast<int>(s.in_c - c < 16 ? s.in_c - c : 16);
    F32 sum[T], weights = zero();
    unrolled<T>([&]<int t>() { sum[t] = zero(); });
    for (int64_t i = 0; i < h.end - h.begin; ++i) {
      const std::byte* q = x + i * s.dilation_h * s.in_w * pixel + c * kBytes;
      const float* w = weight + i * s.kernel_w * width + c;
      if (threes && n == 16) {
        s.stride_w == 1 ? add_threes<kType, T, 1>(q, pixel, w, width, sum)
                        : add_threes<kType, T, 2>(q, pixel, w, width, sum);
        weights = simd::add(weights, simd::add(simd::add(load(w), load(w + width)), load(w + 2 * width)));
        continue;
      }
      for (int64_t j = 0; j < v.end - v.begin; ++j, q += tap, w += width) {
        const F32 factor = load(w);
        weights = simd::add(weights, factor);
        unrolled<T>([&]<int t>() __attribute__((always_inline)) {
          const F32 in = n == 16 ? widen<kType>(q + t * step) : load_low(kType, q + t * step, n);
          sum[t] = simd::fma(in, factor, sum[t]);
        });
      }
    }
    // Whole numbers: the zero point comes off at the end as well as at the beginning.
    if constexpr (low_is_int8(kType)) unrolled<T>([&]<int t>() { sum[t] = simd::fnma(zero_code, weights, sum[t]); });
    const F32 bias = !e.bias ? zero() : n == 16 ? load(e.bias + c) : load_partial(e.bias + c, n);
    const F32 scale = !e.scale ? set1(1.0f) : n == 16 ? load(e.scale + c) : load_partial(e.scale + c, n);
    if (plain && n == 16) {
      const F32 unit = set1(e.y_inverse_scale), factor = mul(scale, unit), shift = mul(bias, unit);
      std::byte* y = static_cast<std::byte*>(p.y) + row * p.y_stride + c;
      unrolled<T>([&]<int t>() __attribute__((always_inline)) {
        const F32 u = simd::fma(sum[t], factor, shift);
        if (e.y_type == LowType::kU8)
          put_bounded<LowType::kU8>(y + t * p.y_stride, u, bounds_of<LowType::kU8>(e), iset1(e.y_zero));
        else
          put_bounded<LowType::kS8>(y + t * p.y_stride, u, bounds_of<LowType::kS8>(e), iset1(e.y_zero));
      });
      continue;
    }
    unrolled<T>([&]<int t>() {
      put_low(e, simd::fma(sum[t], scale, bias), row + t, c, n, static_cast<std::byte*>(p.y), p.y_stride);
    });
  }
}

template <LowType kType>
void run(const LowConvParams& p, Worker& worker) {
  const ConvShape& s = p.shape;
  const auto [begin, end] = worker.slice(s.batch * s.out_h);
  for (int64_t r = begin; r < end; ++r) {
    const int64_t image = r / s.out_h, oh = r % s.out_h;
    const Taps h = taps_inside(oh * s.stride_h - s.pad_top, s.dilation_h, s.kernel_h, s.in_h);
    const auto taps = [&](int64_t ow) {
      return taps_inside(ow * s.stride_w - s.pad_left, s.dilation_w, s.kernel_w, s.in_w);
    };
    const auto whole = [&](int64_t ow) {
      const Taps v = taps(ow);
      return v.begin == 0 && v.end == s.kernel_w;
    };
    const int64_t row = r * s.out_w;
    for (int64_t ow = 0; ow < s.out_w;) {
      if (ow + 4 <= s.out_w && whole(ow) && whole(ow + 3)) {
        run_pixels<kType, 4>(p, image, oh, ow, h, taps(ow));
        ow += 4;
      } else {
        run_pixels<kType, 1>(p, image, oh, ow, h, taps(ow));
        ++ow;
      }
    }
    if (const LowEpilogue& e = p.epilogue; e.map)
      e.map_codes(e.map, static_cast<std::byte*>(p.y) + row * p.y_stride, p.y_stride, s.out_w, s.in_c);
  }
}

// bf16 to bf16, 3x3, whole vectors of channels: as in f32.
template <int S>
void run_bf16_rows(const Work<InBf16>& w, int64_t oh, int64_t end) {
  constexpr int R = simd::kDepthwiseRows;
  if constexpr (R > 1)
    for (; oh + R <= end; oh += R) run_rows<InBf16, 3, S, S, R>(w, oh);
  for (; oh < end; ++oh) run_rows<InBf16, 3, S, S, 1>(w, oh);
}
bool has_bf16_tiles(const LowConvParams& p) {
  const ConvShape& s = p.shape;
  return p.x_type == LowType::kBF16 && p.epilogue.y_type == LowType::kBF16 && !p.epilogue.residual &&
         s.in_c % 16 == 0 && s.kernel_h == 3 && s.kernel_w == 3 && s.dilation_h == 1 && s.dilation_w == 1 &&
         s.stride_h == s.stride_w && s.stride_h <= 2;
}
void run_bf16(const LowConvParams& p, Worker& worker) {
  const ConvShape& s = p.shape;
  auto* zeros = reinterpret_cast<uint16_t*>(p.scratch + worker.index() * low_conv_worker_bytes(s, p.x_type));
  std::memset(zeros, 0, static_cast<size_t>(2 * s.in_c));
  const LowEpilogue& low = p.epilogue;
  const Epilogue e = {.bias = low.bias,
                      .act = low.act,
                      .alpha = low.alpha,
                      .beta = low.beta,
                      .scale = low.act_scale,
                      .shift = low.act_shift};
  share_depthwise(s, worker, [&](int64_t image, int64_t oh, int64_t oh_end, int64_t channel, int64_t channel_end) {
    const Work<InBf16> w = {.s = s,
                            .e = e,
                            .weight = reinterpret_cast<const float*>(p.weight),
                            .x = static_cast<const uint16_t*>(p.x) + image * s.in_h * s.in_w * p.x_stride,
                            .x_stride = p.x_stride,
                            .y = static_cast<uint16_t*>(p.y) + image * s.out_h * s.out_w * p.y_stride,
                            .y_stride = p.y_stride,
                            .residual = nullptr,
                            .zeros = zeros,
                            .width = s.in_c,
                            .channel = channel,
                            .channel_end = channel_end};
    s.stride_h == 1 ? run_bf16_rows<1>(w, oh, oh_end) : run_bf16_rows<2>(w, oh, oh_end);
  });
}

}  // namespace

void low_depthwise(const LowConvParams& p, Worker& worker) {
  switch (p.x_type) {
    case LowType::kF32:
      return run<LowType::kF32>(p, worker);
    case LowType::kBF16:
      return has_bf16_tiles(p) ? run_bf16(p, worker) : run<LowType::kBF16>(p, worker);
    case LowType::kU8:
      return run<LowType::kU8>(p, worker);
    case LowType::kS8:
      return run<LowType::kS8>(p, worker);
  }
}

}  // namespace nereid::kernels::NEREID_ISA
