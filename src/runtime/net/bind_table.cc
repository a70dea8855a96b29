// SPDX-License-Identifier: Apache-2.0
// One row an op that has a kernel, in alphabetical order.
#include <array>

#include "runtime/net/bind_rows.h"

namespace nereid::runtime {

std::span<const NetBindRow> net_bind_table() {
  static constexpr std::array kTable = {
      NetBindRow{"concat", bind_net_concat}, NetBindRow{"conv_last", bind_net_conv_last},
      NetBindRow{"dense", bind_net_dense},   NetBindRow{"matmul", bind_net_matmul},
  };
  return kTable;
}

}  // namespace nereid::runtime
