// SPDX-License-Identifier: Apache-2.0
// The kernels that exist once per instruction set, as one table of functions for each.
//
// A kernel is called by every worker of a pool at the same time with the same parameters; each does its share. A kernel
// may use worker.barrier() inside; it returns without a barrier, so the caller puts one before anybody reads its
// results.
#pragma once

#include "base/cpu_info.h"
#include "kernels/cpu/attention.h"
#include "kernels/cpu/conv.h"
#include "kernels/cpu/conv_transpose.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/elementwise_program.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/linear.h"
#include "kernels/cpu/low_precision.h"
#include "kernels/cpu/low_rank.h"
#include "kernels/cpu/peak.h"
#include "kernels/cpu/pool.h"
#include "kernels/cpu/quantize.h"
#include "kernels/cpu/row_norm.h"

namespace nereid::kernels {

struct IsaKernels {
  Isa isa;
  void (*linear)(const LinearParams&, Worker&);
  void (*low_rank)(const LowRankParams&, Worker&);
  void (*attention)(const AttentionParams&, Worker&);
  void (*rope_table)(const RopeTableParams&, Worker&);
  void (*rope)(const RopeParams&, Worker&);
  void (*embedding)(const EmbeddingParams&, Worker&);
  void (*rms_norm)(const RmsNormParams&, Worker&);
  void (*gated)(const GatedParams&, Worker&);
  void (*add)(const AddParams&, Worker&);
  void (*scale)(const ScaleParams&, Worker&);
  void (*select_rows)(const SelectRowsParams&, Worker&);
  void (*gemm)(const GemmParams&, Worker&);
  void (*gemm_pack)(const GemmPackParams&, Worker&);
  void (*conv)(const ConvParams&, Worker&);
  void (*conv_transpose)(const ConvTransposeParams&, Worker&);
  void (*pool)(const PoolParams&, Worker&);
  void (*global_pool)(const GlobalPoolParams&, Worker&);
  void (*resize)(const ResizeParams&, Worker&);
  void (*transpose)(const TransposeParams&, Worker&);
  void (*softmax)(const SoftmaxParams&, Worker&);
  void (*layer_norm)(const LayerNormParams&, Worker&);
  void (*row_reduce)(const RowReduceParams&, Worker&);
  void (*elementwise_program)(const ProgramParams&, Worker&);
  void (*dynamic_quantize)(const DynamicQuantizeParams&, Worker&);
  void (*low_gemm)(const LowGemmParams&, Worker&);
  void (*low_conv)(const LowConvParams&, Worker&);
  void (*peak)(const PeakParams&, Worker&);
};

// The kernels for an instruction set; those of the next lower one where this build has none.
const IsaKernels& isa_kernels(Isa isa);

#define NEREID_DECLARE_ISA(ns)                                  \
  namespace ns {                                                \
  void linear(const LinearParams&, Worker&);                    \
  void low_rank(const LowRankParams&, Worker&);                 \
  void attention(const AttentionParams&, Worker&);              \
  void rope_table(const RopeTableParams&, Worker&);             \
  void rope(const RopeParams&, Worker&);                        \
  void embedding(const EmbeddingParams&, Worker&);              \
  void rms_norm(const RmsNormParams&, Worker&);                 \
  void gated(const GatedParams&, Worker&);                      \
  void add(const AddParams&, Worker&);                          \
  void scale(const ScaleParams&, Worker&);                      \
  void select_rows(const SelectRowsParams&, Worker&);           \
  void gemm(const GemmParams&, Worker&);                        \
  void gemm_pack(const GemmPackParams&, Worker&);               \
  void conv(const ConvParams&, Worker&);                        \
  void conv_transpose(const ConvTransposeParams&, Worker&);     \
  void pool(const PoolParams&, Worker&);                        \
  void global_pool(const GlobalPoolParams&, Worker&);           \
  void resize(const ResizeParams&, Worker&);                    \
  void transpose(const TransposeParams&, Worker&);              \
  void softmax(const SoftmaxParams&, Worker&);                  \
  void layer_norm(const LayerNormParams&, Worker&);             \
  void row_reduce(const RowReduceParams&, Worker&);             \
  void elementwise_program(const ProgramParams&, Worker&);      \
  void dynamic_quantize(const DynamicQuantizeParams&, Worker&); \
  void low_gemm(const LowGemmParams&, Worker&);                 \
  void low_conv(const LowConvParams&, Worker&);                 \
  void peak(const PeakParams&, Worker&);                        \
  }
NEREID_DECLARE_ISA(baseline)
NEREID_DECLARE_ISA(avx2)
NEREID_DECLARE_ISA(avx512)
namespace avx512bf16 {  // on AVX-512 machines that have AVX512_BF16: bf16 products; the rest is avx512's
void low_gemm(const LowGemmParams&, Worker&);
void low_conv(const LowConvParams&, Worker&);
}  // namespace avx512bf16
namespace amx {  // where the tile unit helps; the rest is avx512's
void linear(const LinearParams&, Worker&);
void low_gemm(const LowGemmParams&, Worker&);
void low_conv(const LowConvParams&, Worker&);
}  // namespace amx
#undef NEREID_DECLARE_ISA

}  // namespace nereid::kernels
