// SPDX-License-Identifier: Apache-2.0
// Two-dimensional convolution of channels-last images in f32: x [batch, in_h, in_w, in_c] -> y [batch, out_h, out_w,
// out_c].
//
//   y[n, oh, ow, o] = epilogue(sum over kh, kw, c of x[n, oh sh + kh dh - pt, ow sw + kw dw - pl, c] w[o, c, kh, kw])
//
// Pixels are rows of in_c (out_c) numbers with a stride, so that a concatenation's parts read and write in place; an
// image is in_h * in_w such rows. Group g takes input channels [g in_c/groups, ...) and makes outputs likewise. One-
// dimensional convolutions have in_h = out_h = kernel_h = 1.
//
// Weights are packed once from OIHW [out_c, in_c / groups, kernel_h, kernel_w]:
//   kGemm       a batch of gemm.h's panels, one b [kh kw c, out_c / groups] a group; k in the order (kh, kw, c)
//   kDepthwise  in_c = groups, out_c = in_c: [kh kw][in_c to 16]
//   kWinograd2  3x3, stride 1, one group: 16 matrices U = G g G^T as panels [16][in_c, out_c], F(2x2, 3x3): 2.25 times
//               fewer multiplications
//   kWinograd4  likewise 36 matrices, F(4x4, 3x3): 4 times fewer, and about ten times the rounding error of kGemm
// Results have equal bits whatever the batch and the number of threads.
//
// Cost: 2 batch out_h out_w out_c in_c/groups kh kw flops (Winograd: 4/9 or 1/4 of it and the transforms). Bound: FMA
// pipes; depthwise: L2 or memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/cpu/blocking.h"
#include "kernels/cpu/epilogue.h"

namespace nereid::kernels {

enum class ConvAlgorithm : uint8_t { kGemm, kDepthwise, kWinograd2, kWinograd4 };

struct ConvShape {
  int64_t batch = 1;
  int64_t in_h = 1, in_w = 1, in_c = 1;
  int64_t out_h = 1, out_w = 1, out_c = 1;
  int64_t kernel_h = 1, kernel_w = 1;
  int64_t stride_h = 1, stride_w = 1;
  int64_t dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0;  // below and to the right: whatever out_h and out_w ask for
  int64_t groups = 1;
};

struct ConvParams {
  ConvShape shape;
  ConvAlgorithm algorithm = ConvAlgorithm::kGemm;
  const float* x = nullptr;
  int64_t x_stride = 0;           // elements between pixels, here and below
  const float* weight = nullptr;  // packed for `algorithm`, 64-byte aligned
  float* y = nullptr;
  int64_t y_stride = 0;
  Epilogue epilogue;  // rows are pixels
  ConvBlocking blocking;
  std::byte* scratch = nullptr;  // conv_scratch_bytes(..., blocking), 64-byte aligned
};

// Whether the algorithm can do it at all (kGemm can do everything).
bool conv_has_algorithm(const ConvShape& shape, ConvAlgorithm algorithm);
// What should be fastest.
ConvAlgorithm choose_conv_algorithm(const ConvShape& shape);

int64_t conv_weight_elements(const ConvShape& shape, ConvAlgorithm algorithm);
// On the calling thread; `oihw` contiguous.
void conv_pack_weight(const ConvShape& shape, ConvAlgorithm algorithm, const float* oihw, float* packed);
// The reverse, of kGemm and kDepthwise: the others have lost bits.
bool conv_can_unpack(ConvAlgorithm algorithm);
void conv_unpack_weight(const ConvShape& shape, ConvAlgorithm algorithm, const float* packed, float* oihw);

int64_t conv_scratch_bytes(const ConvShape& shape, ConvAlgorithm algorithm, int workers,
                           const ConvBlocking& blocking = {});

}  // namespace nereid::kernels
