// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution in f32 (depthwise_tile.h).
//
// 3x3 and 5x5 taps with strides of 1 and 2 each way are written out, so that an input is loaded once for all taps of a
// row that want it; other shapes take the plain loop. Reading runs along memory: walking one block of channels down the
// image instead (all taps in L1) lost by half to its strides.
#include "kernels/cpu/isa/depthwise_tile.h"
#include "kernels/cpu/isa_kernels.h"

namespace nereid::kernels::NEREID_ISA {
namespace {

// Functions for one row and for several at a time, by strides; null: there is none.
struct Rows {
  void (*one)(const Work<InF32>&, int64_t) = nullptr;
  void (*several)(const Work<InF32>&, int64_t) = nullptr;
};
template <int K, int R>
Rows rows_of(int64_t stride_h, int64_t stride_w) {
  if (stride_h == 1 && stride_w == 1) return {run_rows<InF32, K, 1, 1, 1>, run_rows<InF32, K, 1, 1, R>};
  if (stride_h == 2 && stride_w == 2) return {run_rows<InF32, K, 2, 2, 1>, run_rows<InF32, K, 2, 2, R>};
  if (stride_h == 2 && stride_w == 1) return {run_rows<InF32, K, 2, 1, 1>, run_rows<InF32, K, 2, 1, R>};
  if (stride_h == 1 && stride_w == 2) return {run_rows<InF32, K, 1, 2, 1>, run_rows<InF32, K, 1, 2, R>};
  return {};
}

// Output rows [oh, end).
void run(const Work<InF32>& w, int64_t oh, int64_t end) {
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
  const Epilogue& e = p.epilogue;
  share_depthwise(s, worker, [&](int64_t image, int64_t oh, int64_t oh_end, int64_t channel, int64_t channel_end) {
    const Work<InF32> w = {
        .s = s,
        .e = e,
        .weight = p.weight,
        .x = p.x + image * s.in_h * s.in_w * p.x_stride,
        .x_stride = p.x_stride,
        .y = p.y + image * s.out_h * s.out_w * p.y_stride,
        .y_stride = p.y_stride,
        .residual = e.residual ? e.residual + image * s.out_h * s.out_w * e.residual_stride : nullptr,
        .zeros = zeros,
        .width = width,
        .channel = channel,
        .channel_end = channel_end};
    run(w, oh, oh_end);
  });
}

}  // namespace nereid::kernels::NEREID_ISA
