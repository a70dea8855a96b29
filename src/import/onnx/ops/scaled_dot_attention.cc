// SPDX-License-Identifier: Apache-2.0
// Attention of the default domain: results that nobody wants are not made.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

Status import_scaled_dot_attention(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(3, 7));
  const auto wants = [&](size_t i) { return i < node.output_count() && node.wants_output(i); };
  const bool present = wants(1) || wants(2);
  ops::Attrs attrs{{"present", present}, {"scores", wants(3)}};
  for (const char* name : {"left_window_size", "right_window_size"}) {
    NEREID_TRY(const int64_t value, node.integer(name, -1));
    attrs.set(name, value);
  }
  for (const char* name : {"kv_num_heads", "q_num_heads", "qk_matmul_output_mode", "softmax_precision"}) {
    NEREID_TRY(const int64_t value, node.integer(name, 0));
    attrs.set(name, value);
  }
  for (const char* name : {"scale", "softcap"}) {
    NEREID_TRY(const double value, node.real(name, 0.0));
    attrs.set(name, value);
  }
  NEREID_TRY(const int64_t is_causal, node.integer("is_causal", 0));
  attrs.set("is_causal", is_causal != 0);
  NEREID_TRY(const std::vector<ValueId> results,
             node.emit_all("scaled_dot_attention", node.inputs(), std::move(attrs), 1 + (present ? 2 : 0) + wants(3)));
  node.give(0, results[0]);
  for (size_t i : {size_t{1}, size_t{2}})
    if (wants(i)) node.give(i, results[i]);
  if (wants(3)) node.give(3, results[present ? 3 : 1]);
  return Status::ok();
}

}  // namespace nereid::import::onnx
