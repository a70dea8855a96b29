// SPDX-License-Identifier: Apache-2.0
// One row an op that has a kernel, in alphabetical order.
#include <array>

#include "runtime/bind_rows.h"

namespace nereid::runtime {

std::span<const BindRow> bind_table() {
  static constexpr std::array kTable = {
      BindRow{"add", bind_add},
      BindRow{"attention", bind_attention},
      BindRow{"attention_packed", bind_attention_packed},
      BindRow{"embedding", bind_embedding},
      BindRow{"gated", bind_gated},
      BindRow{"gated_linear", bind_gated_linear},
      BindRow{"layer_norm", bind_layer_norm},
      BindRow{"linear", bind_linear},
      BindRow{"rms_norm", bind_rms_norm},
      BindRow{"rope", bind_rope},
      BindRow{"scale", bind_scale},
      BindRow{"select_rows", bind_select_rows},
      BindRow{"softcap", bind_softcap},
  };
  return kTable;
}

}  // namespace nereid::runtime
