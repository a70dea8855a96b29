// SPDX-License-Identifier: Apache-2.0
// Masks of keys as numbers that are added to scores.
#include "import/onnx/ops/attention_mask.h"

#include <numeric>

namespace nereid::import::onnx {

Result<ValueId> attention_mask(NodeContext& node, ValueId keys, ValueId bias, DType dtype, const Dim& total) {
  if (!keys.valid()) return bias;
  NEREID_TRY(const double hidden, node.real("mask_filter_value", -10000.0));
  const Shape shape = node.type(keys).shape;
  const std::string name(dtype_name(dtype));
  ValueId seen;  // 1 or 0
  std::vector<int64_t> sizes;
  if (shape.rank() == 2 || shape.rank() == 3) {
    NEREID_TRY(seen, node.emit("cast", {keys}, {{"dtype", name}}));
    sizes = shape.rank() == 2 ? std::vector<int64_t>{0, 1, 1, -1} : std::vector<int64_t>{};
  } else if (shape.rank() == 1 && total.is_static() && total.size() <= 1 << 20) {
    NEREID_TRY(const ValueId lengths,
               node.emit("reshape_to", {keys, node.constant_integers({-1, 1})}, {{"allowzero", false}}));
    std::vector<int64_t> places(static_cast<size_t>(total.size()));
    std::iota(places.begin(), places.end(), 0);
    NEREID_TRY(const ValueId place, node.emit("cast", {node.constant_integers(places)},
                                              {{"dtype", std::string(dtype_name(node.type(keys).dtype))}}));
    NEREID_TRY(seen, node.emit("less", {place, lengths}));
    NEREID_TRY(seen, node.emit("cast", {seen}, {{"dtype", name}}));
    sizes = {0, 1, 1, -1};
  } else {
    return unsupported("a mask of keys that is {}", node.type(keys).to_string());
  }
  NEREID_TRY(ValueId mask, node.emit("sub", {seen, node.constant_scalar(dtype, 1)}));
  NEREID_TRY(mask, node.emit("mul", {mask, node.constant_scalar(dtype, -hidden)}));
  if (sizes.empty()) {
    NEREID_TRY(mask, node.emit("unsqueeze", {mask, node.constant_integers({1})}));
  } else {
    NEREID_TRY(mask, node.emit("reshape_to", {mask, node.constant_integers(sizes)}, {{"allowzero", false}}));
  }
  if (!bias.valid()) return mask;
  return node.emit("add", {mask, bias});
}

Result<std::vector<ValueId>> cut(NodeContext& node, ValueId x, const std::vector<int64_t>& sizes) {
  return node.emit_all("split", {x}, {{"sizes", sizes}}, sizes.size());
}

Result<ValueId> merge_heads(NodeContext& node, ValueId x) {
  NEREID_TRY(const ValueId steps, node.emit("transpose", {x}, {{"permutation", std::vector<int64_t>{0, 2, 1, 3}}}));
  return node.emit("reshape_to", {steps, node.constant_integers({0, 0, -1})}, {{"allowzero", false}});
}

}  // namespace nereid::import::onnx
