// SPDX-License-Identifier: Apache-2.0
// The binders that bind_table.cc lists, one function an op. Private to runtime/net.
#pragma once

#include "kernels/cpu/conv.h"
#include "kernels/cpu/epilogue.h"
#include "kernels/cpu/low_precision.h"
#include "kernels/cpu/tactic.h"
#include "runtime/net/binder.h"

namespace nereid::runtime {

NetBind bind_net_arithmetic;
NetBind bind_net_cast;
NetBind bind_net_concat;
NetBind bind_net_conv_last;
NetBind bind_net_conv_last_q;
NetBind bind_net_conv_transpose_last;
NetBind bind_net_dense;
NetBind bind_net_dense_q;
NetBind bind_net_dynamic_quantize;
NetBind bind_net_expand;
NetBind bind_net_gather;
NetBind bind_net_global_pool_last;
NetBind bind_net_layer_normalization;
NetBind bind_net_matmul;
NetBind bind_net_mixed;
NetBind bind_net_pad;
NetBind bind_net_pool_last;
NetBind bind_net_program;
NetBind bind_net_recurrent;
NetBind bind_net_reduce;
NetBind bind_net_resize;
NetBind bind_net_scaled_dot_attention;
NetBind bind_net_single;
NetBind bind_net_slice;
NetBind bind_net_softmax;
NetBind bind_net_split;
NetBind bind_net_transpose;

struct ProductSizes {
  int64_t m, n, k;
};

// Whether a product is multiplied in bf16: where the network's precision asks for it, and on the tile unit (if it can
// be filled) or with few rows, which are bound by reading the matrix. VDPBF16PS does no more a cycle than two FMA
// pipes, and rounding rows costs: 13.9 ms in f32 against 21.3 in bf16 (MiniLM of 3 layers, 128 tokens, one thread of
// AVX-512).
bool pays_in_bf16(const NetBinder& binder, const ProductSizes& sizes);

// How a product or a convolution is to be done: as the network was told for the problem, else by rule.
struct Chosen {
  std::string problem;
  kernels::Tactic tactic;
  void note(NetStep& step) const {
    step.problem = problem;
    step.tactic = tactic.text();
  }
};
Chosen choose_conv(const NetBinder& binder, const graph::Node& node, const kernels::ConvShape& shape);
Chosen choose_gemm(const NetBinder& binder, const graph::Node& node, const ProductSizes& sizes);

// The same two in bf16; activations outside are f32 or bf16, as the plan stores them.
Result<std::unique_ptr<NetStep>> bind_low_dense(NetBinder& binder, const graph::Node& node);
Result<std::unique_ptr<NetStep>> bind_low_conv(NetBinder& binder, const graph::Node& node,
                                               const kernels::ConvShape& shape);

// What storage.cc decides by: whether a layer multiplies in bf16 (depthwise ones: goes along), whether a node can write
// its result in bf16 and read an input in it, whether it asks for the same type of all its values, and whether any of
// its values is stored in it.
bool multiplies_in_bf16(NetBinder& binder, const graph::Node& node);
bool writes_bf16(NetBinder& binder, const graph::Node& node);
bool reads_bf16(NetBinder& binder, const graph::Node& node, size_t input);
bool keeps_storage(const graph::Node& node);
bool stores_bf16(const NetBinder& binder, const graph::Node& node);

// Whether a layer can read the planes that `transpose` makes its channels-last input from.
bool reads_planes(NetBinder& binder, const graph::Node& transpose, const graph::Node& layer);

// A convolution over one or two dimensions; kUnsupported for others and for results without elements.
Result<kernels::ConvShape> conv_shape_of(NetBinder& binder, const graph::Node& node);

// f32, bf16, or 8-bit codes.
Result<kernels::LowType> low_type_of(const NetBinder& binder, graph::ValueId id);

// The kernels' name of an activation; kUnsupported for those they lack.
Result<kernels::Act> act_of(std::string_view name);

// Whether a scale and a shift stand behind the activation, which kernels of low precision do not have.
bool scales_result(const graph::Node& node);
// bias, residual and activation of a node, whose result has rows of `columns`: the pointers of `epilogue` are bound.
Status bind_epilogue(NetBinder& binder, const graph::Node& node, size_t bias_input, int64_t columns,
                     kernels::Epilogue& epilogue);

}  // namespace nereid::runtime
