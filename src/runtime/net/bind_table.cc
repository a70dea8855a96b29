// SPDX-License-Identifier: Apache-2.0
// One row an op that has a kernel, in alphabetical order.
#include <array>

#include "runtime/net/bind_rows.h"

namespace nereid::runtime {

std::span<const NetBindRow> net_bind_table() {
  // clang-format off
  static constexpr std::array kTable = {
      NetBindRow{"abs", bind_net_single},
      NetBindRow{"add", bind_net_arithmetic},
      NetBindRow{"and", bind_net_mixed},
      NetBindRow{"cast", bind_net_cast},
      NetBindRow{"ceil", bind_net_single},
      NetBindRow{"clip", bind_net_mixed},
      NetBindRow{"concat", bind_net_concat},
      NetBindRow{"conv_last", bind_net_conv_last},
      NetBindRow{"conv_last_q", bind_net_conv_last_q},
      NetBindRow{"conv_transpose_last", bind_net_conv_transpose_last},
      NetBindRow{"cos", bind_net_single},
      NetBindRow{"dense", bind_net_dense},
      NetBindRow{"dense_q", bind_net_dense_q},
      NetBindRow{"div", bind_net_single},
      NetBindRow{"dynamic_quantize_linear", bind_net_dynamic_quantize},
      NetBindRow{"equal", bind_net_mixed},
      NetBindRow{"erf", bind_net_single},
      NetBindRow{"exp", bind_net_single},
      NetBindRow{"expand", bind_net_expand},
      NetBindRow{"floor", bind_net_single},
      NetBindRow{"gather", bind_net_gather},
      NetBindRow{"gelu", bind_net_single},
      NetBindRow{"gelu_tanh", bind_net_single},
      NetBindRow{"global_pool_last", bind_net_global_pool_last},
      NetBindRow{"greater", bind_net_mixed},
      NetBindRow{"greater_or_equal", bind_net_mixed},
      NetBindRow{"gru", bind_net_recurrent},
      NetBindRow{"layer_normalization", bind_net_layer_normalization},
      NetBindRow{"less", bind_net_mixed},
      NetBindRow{"less_or_equal", bind_net_mixed},
      NetBindRow{"log", bind_net_single},
      NetBindRow{"log_softmax", bind_net_softmax},
      NetBindRow{"lstm", bind_net_recurrent},
      NetBindRow{"matmul", bind_net_matmul},
      NetBindRow{"mul", bind_net_arithmetic},
      NetBindRow{"neg", bind_net_single},
      NetBindRow{"not", bind_net_mixed},
      NetBindRow{"or", bind_net_mixed},
      NetBindRow{"pad", bind_net_pad},
      NetBindRow{"pool_last", bind_net_pool_last},
      NetBindRow{"pow", bind_net_single},
      NetBindRow{"program", bind_net_program},
      NetBindRow{"reciprocal", bind_net_single},
      NetBindRow{"reduce_l2", bind_net_reduce},
      NetBindRow{"reduce_max", bind_net_reduce},
      NetBindRow{"reduce_mean", bind_net_reduce},
      NetBindRow{"reduce_min", bind_net_reduce},
      NetBindRow{"reduce_sum", bind_net_reduce},
      NetBindRow{"reduce_sum_square", bind_net_reduce},
      NetBindRow{"relu", bind_net_single},
      NetBindRow{"resize", bind_net_resize},
      NetBindRow{"rms_normalization", bind_net_layer_normalization},
      NetBindRow{"scaled_dot_attention", bind_net_scaled_dot_attention},
      NetBindRow{"sigmoid", bind_net_single},
      NetBindRow{"silu", bind_net_single},
      NetBindRow{"sin", bind_net_single},
      NetBindRow{"slice", bind_net_slice},
      NetBindRow{"softmax", bind_net_softmax},
      NetBindRow{"softplus", bind_net_single},
      NetBindRow{"split", bind_net_split},
      NetBindRow{"split_along", bind_net_split},
      NetBindRow{"sqrt", bind_net_single},
      NetBindRow{"sub", bind_net_arithmetic},
      NetBindRow{"tanh", bind_net_single},
      NetBindRow{"transpose", bind_net_transpose},
      NetBindRow{"where", bind_net_mixed},
      NetBindRow{"xor", bind_net_mixed},
  };
  // clang-format on
  return kTable;
}

}  // namespace nereid::runtime
