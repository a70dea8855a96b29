// SPDX-License-Identifier: Apache-2.0
// Tiles of depthwise convolutions: 16 channels to a vector, some output rows by some pixels; channels run innermost.
//
// A tile's input pixels are found through a table of pointers, those outside the image being a row of zeros: edges cost
// no more than the inside. Numbers are f32 or bf16 in memory, f32 in registers; bf16 ones come in whole vectors.
#pragma once

#include "kernels/cpu/isa/activation.h"
#include "kernels/cpu/isa/conv_parts.h"

#include NEREID_ISA_HEADER

namespace nereid::kernels::NEREID_ISA {
namespace {

using simd::F32;

// How numbers lie in memory.
struct InF32 {
  using Type = float;
  static F32 load(const float* p, simd::Lanes lanes) { return simd::load(p, lanes); }
  static void store(float* p, F32 v, simd::Lanes lanes) { simd::store(p, v, lanes); }
};
struct InBf16 {
  using Type = uint16_t;
  static F32 load(const uint16_t* p, simd::Lanes) { return simd::load_bf16(p); }
  static void store(uint16_t* p, F32 v, simd::Lanes) { simd::store_bf16(p, v); }
};

constexpr int kMostPixels = simd::kDepthwisePixels;

[[gnu::noinline]] inline F32 finish(const Epilogue& e, F32 v) {
  return activate(e, v);
}

// Output rows of one image, and some of the channels.
template <typename In>
struct Work {
  const ConvShape& s;
  const Epilogue& e;
  const float* weight;
  const typename In::Type* x;  // the image
  int64_t x_stride;
  typename In::Type* y;
  int64_t y_stride;
  const float* residual;
  const typename In::Type* zeros;
  int64_t width;  // channels of the weight's rows
  int64_t channel, channel_end;
};

struct Output {
  const Epilogue& e;
  bool clamped;
  F32 low, high;
  explicit Output(const Epilogue& epilogue)
      : e(epilogue), clamped(is_clamp(e)), low(simd::set1(clamp_low(e))), high(simd::set1(clamp_high(e))) {}

  // The sums of some channels of pixel `pixel` to their place.
  template <typename In>
  [[gnu::always_inline]] void put(const Work<In>& w, int64_t pixel, int64_t c, simd::Lanes lanes, F32 v) const {
    F32 late = simd::zero();
    if (w.residual) {
      late = simd::load(w.residual + pixel * e.residual_stride + c, lanes);
      if (!e.residual_last) v = simd::add(v, late);
    }
    v = clamped ? simd::min(high, simd::max(low, v)) : finish(e, v);
    if (w.residual && e.residual_last) v = simd::add(v, late);
    In::store(w.y + pixel * w.y_stride + c, v, lanes);
  }
};

// K x K taps, strides H and S, T pixels of R rows from (oh, ow); whole blocks of 16 channels.
template <typename In, int K, int H, int S, int T, int R>
[[gnu::noinline]] void run_tile(const Work<In>& w, int64_t oh, int64_t ow) {
  using namespace simd;
  constexpr int kRows = (R - 1) * H + K, kColumns = (T - 1) * S + K;
  const ConvShape& s = w.s;
  const typename In::Type* in[kRows][kColumns];
  const int64_t top = oh * H - s.pad_top, left = ow * S - s.pad_left;
  if (top >= 0 && left >= 0 && top + kRows <= s.in_h && left + kColumns <= s.in_w) {
    // With few channels looking at every pixel's place takes as long as its products.
    const typename In::Type* row = w.x + (top * s.in_w + left) * w.x_stride;
    for (int i = 0; i < kRows; ++i, row += s.in_w * w.x_stride)
      for (int j = 0; j < kColumns; ++j) in[i][j] = row + j * w.x_stride;
  } else {
    for (int i = 0; i < kRows; ++i)
      for (int j = 0; j < kColumns; ++j) {
        const int64_t h = top + i, v = left + j;
        const bool inside = h >= 0 && h < s.in_h && v >= 0 && v < s.in_w;
        in[i][j] = inside ? w.x + (h * s.in_w + v) * w.x_stride : w.zeros;
      }
  }
  const Output output(w.e);
  const float* bias = w.e.bias;
  for (int64_t c = w.channel; c < w.channel_end; c += 16) {
    const Lanes lanes = first_lanes(static_cast<int>(w.channel_end - c < 16 ? w.channel_end - c : 16));
    F32 sum[R][T];
    unrolled<R>([&]<int r>() { unrolled<T>([&]<int t>() { sum[r][t] = zero(); }); });
    const float* taps = w.weight + c;
    unrolled<kRows>([&]<int i>() __attribute__((always_inline)) {
      F32 v[kColumns];
      unrolled<kColumns>([&]<int j>() __attribute__((always_inline)) { v[j] = In::load(in[i][j] + c, lanes); });
      unrolled<R>([&]<int r>() __attribute__((always_inline)) {
        constexpr int kh = i - r * H;
        if constexpr (kh >= 0 && kh < K) {
          unrolled<K>([&]<int j>() __attribute__((always_inline)) {
            const F32 tap = load(taps + (kh * K + j) * w.width);
            unrolled<T>([&]<int t>()
                            __attribute__((always_inline)) { sum[r][t] = simd::fma(v[t * S + j], tap, sum[r][t]); });
          });
        }
      });
    });
    const F32 add = bias ? load(bias + c, lanes) : zero();
    unrolled<R>([&]<int r>() {
      unrolled<T>([&]<int t>() { output.put(w, (oh + r) * s.out_w + ow + t, c, lanes, simd::add(sum[r][t], add)); });
    });
  }
}

// Any taps, one pixel.
template <typename In>
[[gnu::noinline]] void run_pixel(const Work<In>& w, int64_t oh, int64_t ow) {
  using namespace simd;
  const ConvShape& s = w.s;
  const Epilogue& e = w.e;
  const int64_t top = oh * s.stride_h - s.pad_top, left = ow * s.stride_w - s.pad_left;
  const Taps h = taps_inside(top, s.dilation_h, s.kernel_h, s.in_h);
  const Taps v = taps_inside(left, s.dilation_w, s.kernel_w, s.in_w);
  const Output output(e);
  for (int64_t c = w.channel; c < w.channel_end; c += 16) {
    const Lanes lanes = first_lanes(static_cast<int>(w.channel_end - c < 16 ? w.channel_end - c : 16));
    F32 sum = zero();
    for (int64_t i = h.begin; i < h.end; ++i) {
      const typename In::Type* x = w.x + ((top + i * s.dilation_h) * s.in_w + left) * w.x_stride + c;
      const float* taps = w.weight + i * s.kernel_w * w.width + c;
      for (int64_t j = v.begin; j < v.end; ++j)
        sum = simd::fma(In::load(x + j * s.dilation_w * w.x_stride, lanes), load(taps + j * w.width), sum);
    }
    if (e.bias) sum = simd::add(sum, load(e.bias + c, lanes));
    output.put(w, oh * s.out_w + ow, c, lanes, sum);
  }
}

template <typename In, int K, int H, int S, int R>
void run_rows(const Work<In>& w, int64_t oh) {
  int64_t ow = 0;
  const int64_t end = w.s.out_w;
  for (; ow + kMostPixels <= end; ow += kMostPixels) run_tile<In, K, H, S, kMostPixels, R>(w, oh, ow);
  if constexpr (kMostPixels > 4)
    for (; ow + 4 <= end; ow += 4) run_tile<In, K, H, S, 4, R>(w, oh, ow);
  for (; ow + 2 <= end; ow += 2) run_tile<In, K, H, S, 2, R>(w, oh, ow);
  if (ow < end) run_tile<In, K, H, S, 1, R>(w, oh, ow);
}

// How a team shares the output rows of all images: two at a time where they are done together, and, where these are too
// few, parts of the channels. work(image, first row, end row, first channel, end channel).
template <typename F>
void share_depthwise(const ConvShape& s, Worker& worker, F&& work) {
  const int64_t width = (s.in_c + 15) / 16 * 16;
  const int64_t height = s.kernel_h == 3 && s.kernel_w == 3 ? 2 : 1;
  const int64_t pairs = (s.out_h + height - 1) / height, units = s.batch * pairs;
  const int64_t wanted = worker.count() == 1 ? 1 : (4 * worker.count() + units - 1) / units, most = (width + 63) / 64;
  const int64_t parts = wanted < most ? wanted : most;
  const auto [begin, end] = worker.slice(units * parts);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t part = i % parts, image = i / parts / pairs, oh = i / parts % pairs * height;
    const int64_t last = width / 16 * (part + 1) / parts * 16;
    work(image, oh, oh + height < s.out_h ? oh + height : s.out_h, width / 16 * part / parts * 16,
         last < s.in_c ? last : s.in_c);
  }
}

}  // namespace
}  // namespace nereid::kernels::NEREID_ISA
