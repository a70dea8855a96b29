// SPDX-License-Identifier: Apache-2.0
// A row of the table of kernels from the functions of one instruction set's namespace. Private to kernels/cpu.
#pragma once

#define NEREID_ISA_ROW(ns)                                                                                          \
  IsaKernels {                                                                                                      \
    .isa = Isa::ns, .linear = ns::linear, .low_rank = ns::low_rank, .attention = ns::attention,                     \
    .rope_table = ns::rope_table, .rope = ns::rope, .embedding = ns::embedding, .rms_norm = ns::rms_norm,           \
    .gated = ns::gated, .add = ns::add, .scale = ns::scale, .select_rows = ns::select_rows, .gemm = ns::gemm,       \
    .gemm_pack = ns::gemm_pack, .conv = ns::conv, .conv_transpose = ns::conv_transpose, .pool = ns::pool,           \
    .global_pool = ns::global_pool, .resize = ns::resize, .transpose = ns::transpose, .softmax = ns::softmax,       \
    .layer_norm = ns::layer_norm, .row_reduce = ns::row_reduce, .elementwise_program = ns::elementwise_program,     \
    .dynamic_quantize = ns::dynamic_quantize, .low_gemm = ns::low_gemm, .low_conv = ns::low_conv, .peak = ns::peak, \
  }
