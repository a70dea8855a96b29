// SPDX-License-Identifier: Apache-2.0
// c = epilogue(a . b) in f32: a [m, k] row by row with any stride, b packed into panels of 16 columns or used as it is.
//
// Packed b: panel p holds columns 16p .. 16p + 15 as [k][16], zeros past n; panels follow each other. The layout does
// not depend on the instruction set: 16 columns are one AVX-512, two AVX2 or four SSE registers.
// Unpacked b: [k, n] row by row with stride b_stride; n must be a multiple of 16 (pack otherwise).
// An element is one chain of fused multiply-adds in the order of k (rounded twice on the baseline), whatever m, the
// number of threads or the tile: equal bits.
//
// Cost: 2 m n k flops; bytes (m k + k n + m n) 4. Bound: the FMA pipes from m of about 16 on, memory for m = 1.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/cpu/blocking.h"
#include "kernels/cpu/epilogue.h"

namespace nereid::kernels {

inline constexpr int64_t kPanelColumns = 16;

constexpr int64_t gemm_panels(int64_t n) {
  return (n + kPanelColumns - 1) / kPanelColumns;
}
// Elements of a packed b.
constexpr int64_t gemm_packed_elements(int64_t k, int64_t n) {
  return gemm_panels(n) * kPanelColumns * k;
}

// Packs one b [k, n], or with `transposed` b^T [n, k], on all workers; or a batch of them (the batch dims are of b).
struct GemmPackParams {
  const float* b = nullptr;
  int64_t b_stride = 0;  // elements between rows of b, or of b^T
  bool transposed = false;
  int64_t k = 0, n = 0;
  int64_t batch = 1, b_batch_stride = 0;  // elements
  int64_t batch_outer = 1, b_outer_stride = 0;
  float* packed = nullptr;  // [batch_outer][batch][gemm_packed_elements], 64-byte aligned
};

struct GemmParams {
  const float* a = nullptr;
  int64_t a_stride = 0;      // elements between rows, here and below
  const float* b = nullptr;  // packed; [k, n] row by row if b_stride != 0
  int64_t b_stride = 0;
  int64_t m = 0, n = 0, k = 0;
  float* c = nullptr;
  int64_t c_stride = 0;
  Epilogue epilogue;
  // Two nested batch dims (attention: sequence and head). Elements between neighbours; 0 repeats. The bias is shared,
  // the residual has strides of its own.
  struct Batch {
    int64_t count = 1;
    int64_t a = 0, b = 0, c = 0, residual = 0;
  };
  Batch outer, inner;
  GemmBlocking blocking;
  std::byte* scratch = nullptr;  // gemm_scratch_bytes(p, workers), 64-byte aligned; null when that is 0
};

int64_t gemm_scratch_bytes(const GemmParams& p, int workers);

// Packs by itself, on the calling thread and without vector instructions: for building, and for tests.
void gemm_pack(const GemmPackParams& p);
// The reverse of it for one b: `packed` is read, `b` written.
struct GemmUnpackParams {
  const float* packed = nullptr;
  float* b = nullptr;
  int64_t b_stride = 0;
  bool transposed = false;
  int64_t k = 0, n = 0;
};
void gemm_unpack(const GemmUnpackParams& p);

}  // namespace nereid::kernels
