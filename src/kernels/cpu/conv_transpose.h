// SPDX-License-Identifier: Apache-2.0
// Two-dimensional transposed convolution of channels-last images in f32: x [batch, in_h, in_w, in_c] -> y [batch,
// out_h, out_w, out_c].
//
//   y[n, oh, ow, o] = epilogue(sum over kh, kw, c of x[n, ih, iw, c] w[c, o, kh, kw]),  ih stride_h = oh + pad_top -
//   kh dilation_h, and iw likewise: taps for which that is no whole position of x count nothing
//
// Outputs with the same remainder by the strides read the same taps: each such phase is a convolution of stride 1 whose
// results lie stride pixels apart, one product over a zero-padded band of x. Where windows do not overlap (kernel =
// stride, no padding), the phases of a row are one product whose columns are the row's pixels, over x as it lies.
//
// ConvShape's in_* are sizes of x, out_* of y; pad_top and pad_left are what is cut off of y there. Weights are packed
// once from [in_c, out_c / groups, kernel_h, kernel_w] into gemm.h's panels, a matrix a phase and group.
// One-dimensional ones have in_h = out_h = kernel_h = 1. Results have equal bits whatever the batch and the number of
// threads.
//
// Cost: 2 batch in_h in_w in_c out_c / groups kernel_h kernel_w flops. Bound: FMA pipes; memory with few channels.
#pragma once

#include "kernels/cpu/conv.h"

namespace nereid::kernels {

struct ConvTransposeParams {
  ConvShape shape;
  const float* x = nullptr;
  int64_t x_stride = 0;           // elements between pixels
  const float* weight = nullptr;  // packed, 64-byte aligned
  float* y = nullptr;             // pixels of out_c numbers, one behind the other
  Epilogue epilogue;              // rows are pixels
  std::byte* scratch = nullptr;   // conv_transpose_scratch_bytes(...), 64-byte aligned
};

// Whether an output reads at most kMostTransposeTaps taps.
inline constexpr int64_t kMostTransposeTaps = 64;
bool conv_transpose_fits(const ConvShape& shape);

// Whether the pixels of y that a pixel of x makes in a row are columns of one product: packed weights hang on it, and
// on nothing else of the sizes of x and y.
bool conv_transpose_joins_columns(const ConvShape& shape);

int64_t conv_transpose_weight_elements(const ConvShape& shape);
// On the calling thread; `iohw` contiguous.
void conv_transpose_pack_weight(const ConvShape& shape, const float* iohw, float* packed);

int64_t conv_transpose_scratch_bytes(const ConvShape& shape, int workers);

}  // namespace nereid::kernels
