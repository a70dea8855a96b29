// SPDX-License-Identifier: Apache-2.0
// Which values are kept in bf16 between layers. What a bf16 layer reads it rounds anyway, so a value that only such
// layers read loses nothing by being rounded when it is written; that halves what goes through memory.
#include <algorithm>

#include "runtime/net/bind_rows.h"

namespace nereid::runtime {
namespace {

bool is_layer(const graph::Node& node) {
  return node.op->name == "conv_last" || node.op->name == "dense";
}
bool is_max_pool(const graph::Node& node) {
  return (node.op->name == "pool_last" || node.op->name == "global_pool_last") && node.attrs.text("kind") == "max";
}

// Depthwise convolutions have nothing to win in the multiplication: they go along where the network is bf16's.
bool is_low_depthwise(NetBinder& binder, const graph::Node& node, const kernels::ConvShape& shape) {
  const std::string& own = node.attrs.text("precision");
  return kernels::low_conv_is_depthwise(shape) && !scales_result(node) && own != "f32" &&
         (own == "bf16" || binder.network().precision() == NetPrecision::kBF16);
}

}  // namespace

bool multiplies_in_bf16(NetBinder& binder, const graph::Node& node) {
  if (!is_layer(node) || binder.constant(node.inputs[1]) == nullptr) return false;
  if (node.op->name == "dense") {
    const std::vector<int64_t> ws = binder.sizes(node.inputs[1]);
    const auto elements = binder.type(node.inputs[0]).shape.elements();
    if (ws.size() != 2 || !elements || *elements == 0) return false;
    const bool transposed = node.attrs.boolean("transposed");
    const int64_t k = ws[transposed ? 1 : 0], n = ws[transposed ? 0 : 1];
    return k > 0 && n > 0 &&
           choose_gemm(binder, node, {.m = *elements / k, .n = n, .k = k}).tactic.way == kernels::Way::kBF16;
  }
  const Result<kernels::ConvShape> shape = conv_shape_of(binder, node);
  if (!shape.is_ok()) return false;
  return is_low_depthwise(binder, node, *shape) || choose_conv(binder, node, *shape).tactic.way == kernels::Way::kBF16;
}

bool writes_bf16(NetBinder& binder, const graph::Node& node) {
  return node.op->name == "concat" || is_max_pool(node) || multiplies_in_bf16(binder, node);
}

bool reads_bf16(NetBinder& binder, const graph::Node& node, size_t input) {
  if (node.op->name == "concat" || node.op->name == "pool_last" || node.op->name == "global_pool_last") return true;
  return is_layer(node) && (input == 0 || input == 3) && multiplies_in_bf16(binder, node);
}

bool keeps_storage(const graph::Node& node) {
  return node.op->name == "concat" || is_max_pool(node);
}

bool stores_bf16(const NetBinder& binder, const graph::Node& node) {
  const auto is_bf16 = [&](graph::ValueId id) { return id.valid() && binder.dtype(id) == DType::bf16; };
  return std::any_of(node.inputs.begin(), node.inputs.end(), is_bf16) ||
         std::any_of(node.outputs.begin(), node.outputs.end(), is_bf16);
}

}  // namespace nereid::runtime
