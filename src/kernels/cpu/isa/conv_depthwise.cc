// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution: 16 channels to a vector, tiles of two output rows by some pixels; channels run innermost.
//
// A tile's input pixels are found through a table of pointers, those outside the image being a row of zeros: edges cost
// no more than the inside. 3x3 and 5x5 taps with strides of 1 and 2 each way are written out, so that an input is
// loaded once for all taps of a row that want it; other shapes, and channels past the last 16, take the plain loop.
// Reading runs along memory: walking one block of channels down the image instead (all taps in L1) lost by half to its
// strides.
#include "kernels/cpu/isa/activation.h"
#include "kernels/cpu/isa/conv_parts.h"
#include "kernels/cpu/isa_kernels.h"

namespace nereid::kernels::NEREID_ISA {
namespace {

using simd::F32;

constexpr int kMostPixels = simd::kDepthwisePixels;

[[gnu::noinline]] F32 finish(const Epilogue& e, F32 v) {
  return activate(e, v);
}

// Output rows of one image, and some of the channels.
struct Work {
  const ConvParams& p;
  const ConvShape& s;
  const float* x;  // the image
  float* y;
  const float* residual;
  const float* zeros;
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
  [[gnu::always_inline]] void put(const Work& w, int64_t pixel, int64_t c, simd::Lanes lanes, F32 v) const {
    F32 late = simd::zero();
    if (w.residual) {
      late = simd::load(w.residual + pixel * e.residual_stride + c, lanes);
      if (!e.residual_last) v = simd::add(v, late);
    }
    v = clamped ? simd::min(high, simd::max(low, v)) : finish(e, v);
    if (w.residual && e.residual_last) v = simd::add(v, late);
    simd::store(w.y + pixel * w.p.y_stride + c, v, lanes);
  }
};

// K x K taps, strides H and S, T pixels of R rows from (oh, ow); whole blocks of 16 channels.
template <int K, int H, int S, int T, int R>
[[gnu::noinline]] void run_tile(const Work& w, int64_t oh, int64_t ow) {
  using namespace simd;
  constexpr int kRows = (R - 1) * H + K, kColumns = (T - 1) * S + K;
  const ConvShape& s = w.s;
  const float* in[kRows][kColumns];
  for (int i = 0; i < kRows; ++i) {
    const int64_t h = oh * H - s.pad_top + i;
    for (int j = 0; j < kColumns; ++j) {
      const int64_t v = ow * S - s.pad_left + j;
      const bool inside = h >= 0 && h < s.in_h && v >= 0 && v < s.in_w;
      in[i][j] = inside ? w.x + (h * s.in_w + v) * w.p.x_stride : w.zeros;
    }
  }
  const Output output(w.p.epilogue);
  const float* bias = w.p.epilogue.bias;
  for (int64_t c = w.channel; c < w.channel_end; c += 16) {
    const Lanes lanes = first_lanes(static_cast<int>(w.channel_end - c < 16 ? w.channel_end - c : 16));
    F32 sum[R][T];
    unrolled<R>([&]<int r>() { unrolled<T>([&]<int t>() { sum[r][t] = zero(); }); });
    const float* taps = w.p.weight + c;
    unrolled<kRows>([&]<int i>() __attribute__((always_inline)) {
      F32 v[kColumns];
      unrolled<kColumns>([&]<int j>() __attribute__((always_inline)) { v[j] = load(in[i][j] + c, lanes); });
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
[[gnu::noinline]] void run_pixel(const Work& w, int64_t oh, int64_t ow) {
  using namespace simd;
  const ConvShape& s = w.s;
  const Epilogue& e = w.p.epilogue;
  const int64_t top = oh * s.stride_h - s.pad_top, left = ow * s.stride_w - s.pad_left;
  const Taps h = taps_inside(top, s.dilation_h, s.kernel_h, s.in_h);
  const Taps v = taps_inside(left, s.dilation_w, s.kernel_w, s.in_w);
  const Output output(e);
  for (int64_t c = w.channel; c < w.channel_end; c += 16) {
    const Lanes lanes = first_lanes(static_cast<int>(w.channel_end - c < 16 ? w.channel_end - c : 16));
    F32 sum = zero();
    for (int64_t i = h.begin; i < h.end; ++i) {
      const float* x = w.x + ((top + i * s.dilation_h) * s.in_w + left) * w.p.x_stride + c;
      const float* taps = w.p.weight + i * s.kernel_w * w.width + c;
      for (int64_t j = v.begin; j < v.end; ++j)
        sum = simd::fma(load(x + j * s.dilation_w * w.p.x_stride, lanes), load(taps + j * w.width), sum);
    }
    if (e.bias) sum = simd::add(sum, load(e.bias + c, lanes));
    output.put(w, oh * s.out_w + ow, c, lanes, sum);
  }
}

template <int K, int H, int S, int R>
void run_rows(const Work& w, int64_t oh) {
  int64_t ow = 0;
  const int64_t end = w.s.out_w;
  for (; ow + kMostPixels <= end; ow += kMostPixels) run_tile<K, H, S, kMostPixels, R>(w, oh, ow);
  if constexpr (kMostPixels > 4)
    for (; ow + 4 <= end; ow += 4) run_tile<K, H, S, 4, R>(w, oh, ow);
  for (; ow + 2 <= end; ow += 2) run_tile<K, H, S, 2, R>(w, oh, ow);
  if (ow < end) run_tile<K, H, S, 1, R>(w, oh, ow);
}

// Functions for one row and for several at a time, by strides; null: there is none.
struct Rows {
  void (*one)(const Work&, int64_t) = nullptr;
  void (*several)(const Work&, int64_t) = nullptr;
};
template <int K, int R>
Rows rows_of(int64_t stride_h, int64_t stride_w) {
  if (stride_h == 1 && stride_w == 1) return {run_rows<K, 1, 1, 1>, run_rows<K, 1, 1, R>};
  if (stride_h == 2 && stride_w == 2) return {run_rows<K, 2, 2, 1>, run_rows<K, 2, 2, R>};
  if (stride_h == 2 && stride_w == 1) return {run_rows<K, 2, 1, 1>, run_rows<K, 2, 1, R>};
  if (stride_h == 1 && stride_w == 2) return {run_rows<K, 1, 2, 1>, run_rows<K, 1, 2, R>};
  return {};
}

// Output rows [oh, end).
void run(const Work& w, int64_t oh, int64_t end) {
  const ConvShape& s = w.s;
  const bool square = s.kernel_h == s.kernel_w && s.dilation_h == 1 && s.dilation_w == 1;
  constexpr int R = simd::kDepthwiseRows;
  Rows rows;
  if (square && s.kernel_h == 3) rows = rows_of<3, R>(s.stride_h, s.stride_w);
  if (square && s.kernel_h == 5) rows = rows_of<5, 1>(s.stride_h, s.stride_w);
  if (rows.several && rows.several != rows.one)
    for (; oh + R <= end; oh += R) rows.several(w, oh);
  for (; oh < end; ++oh) {
    if (rows.one)
      rows.one(w, oh);
    else
      for (int64_t ow = 0; ow < s.out_w; ++ow) run_pixel(w, oh, ow);
  }
}

}  // namespace

void conv_depthwise(const ConvParams& p, Worker& worker) {
  const ConvShape& s = p.shape;
  const int64_t width = (s.in_c + 15) / 16 * 16;
  auto* zeros = reinterpret_cast<float*>(p.scratch + worker.index() * width * 4);
  for (int64_t c = 0; c < width; c += 16) simd::store(zeros + c, simd::zero());
  // Units: output rows, two where they are done together; and, where these are too few for the team, parts of the
  // channels.
  const int64_t height = s.kernel_h == 3 && s.kernel_w == 3 ? 2 : 1;
  const int64_t pairs = (s.out_h + height - 1) / height, units = s.batch * pairs;
  const int64_t wanted = worker.count() == 1 ? 1 : (4 * worker.count() + units - 1) / units, most = (width + 63) / 64;
  const int64_t parts = wanted < most ? wanted : most;
  const auto [begin, end] = worker.slice(units * parts);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t part = i % parts, image = i / parts / pairs, oh = i / parts % pairs * height;
    const int64_t last = width / 16 * (part + 1) / parts * 16;
    const Epilogue& e = p.epilogue;
    const Work w = {.p = p,
                    .s = s,
                    .x = p.x + image * s.in_h * s.in_w * p.x_stride,
                    .y = p.y + image * s.out_h * s.out_w * p.y_stride,
                    .residual = e.residual ? e.residual + image * s.out_h * s.out_w * e.residual_stride : nullptr,
                    .zeros = zeros,
                    .width = width,
                    .channel = width / 16 * part / parts * 16,
                    .channel_end = last < s.in_c ? last : s.in_c};
    run(w, oh, oh + height < s.out_h ? oh + height : s.out_h);
  }
}

}  // namespace nereid::kernels::NEREID_ISA
