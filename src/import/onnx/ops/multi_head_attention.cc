// SPDX-License-Identifier: Apache-2.0
// MultiHeadAttention and Attention of com.microsoft: the projections' biases (Attention: the projections) are inside.
#include <algorithm>

#include "import/onnx/ops/attention_mask.h"
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {
namespace {

struct Parts {
  ValueId q, k, v;               // [N, S, H * D], or [N, H, S, D]
  ValueId past_key, past_value;  // [N, H, P, D], or absent
  ValueId keys, bias;            // masks
};

Dim steps_of(const NodeContext& node, ValueId x) {
  if (!x.valid()) return 0;
  const Shape& shape = node.type(x).shape;
  if (shape.rank() < 3) return Dim::unknown();
  return shape[shape.rank() == 4 ? 2 : 1];
}

// y, and the present keys and values if wanted.
Result<std::vector<ValueId>> attend(NodeContext& node, const Parts& parts, bool present) {
  NEREID_TRY(const int64_t heads, node.integer("num_heads"));
  NEREID_TRY(const double scale, node.real("scale", 0.0));
  NEREID_TRY(const int64_t unidirectional, node.integer("unidirectional", 0));
  const Dim past = steps_of(node, parts.past_key);
  const Dim now = steps_of(node, parts.k);
  const Dim total = past.is_static() && now.is_static() ? Dim(past.size() + now.size()) : Dim::unknown();
  NEREID_TRY(const ValueId mask, attention_mask(node, parts.keys, parts.bias, node.type(parts.q).dtype, total));
  return node.emit_all("scaled_dot_attention", {parts.q, parts.k, parts.v, mask, parts.past_key, parts.past_value},
                       {{"q_num_heads", heads},
                        {"kv_num_heads", heads},
                        {"scale", scale},
                        {"is_causal", unidirectional != 0},
                        {"present", present}},
                       present ? 3 : 1);
}

// Places `from` to `to` of dimension 3 of [N, S, H, parts, D], as [N, S, H * D].
Result<ValueId> unpack(NodeContext& node, ValueId packed, int64_t part) {
  NEREID_TRY(const ValueId one, node.emit("slice", {packed, node.constant_integers({part}),
                                                    node.constant_integers({part + 1}), node.constant_integers({3})}));
  return node.emit("reshape_to", {one, node.constant_integers({0, 0, -1})}, {{"allowzero", false}});
}

Result<int64_t> width_of(const NodeContext& node, ValueId x) {
  const Shape& shape = node.type(x).shape;
  if (shape.rank() != 3 || !shape[2].is_static()) return unsupported("a bias for {}", node.type(x).to_string());
  return shape[2].size();
}

Status add_biases(NodeContext& node, ValueId bias, Parts& parts) {
  std::vector<ValueId*> values{&parts.q, &parts.k, &parts.v};
  NEREID_TRY(const int64_t q, width_of(node, parts.q));
  // Keys that are already in heads have had theirs.
  const bool in_heads = node.type(parts.k).shape.rank() == 4;
  const Dim& all = node.type(bias).shape.rank() == 1 ? node.type(bias).shape[0] : Dim::unknown();
  if (in_heads && !all.is_static()) return unsupported("a bias of unknown size, {}", node.type(bias).to_string());
  std::vector<int64_t> sizes{q, q, in_heads ? all.size() - 2 * q : 0};
  if (!in_heads) {
    NEREID_TRY(sizes[1], width_of(node, parts.k));
    NEREID_TRY(sizes[2], width_of(node, parts.v));
  }
  NEREID_TRY(const std::vector<ValueId> biases, cut(node, bias, sizes));
  for (size_t i = 0; i < (in_heads ? 1 : 3); ++i) {
    NEREID_TRY(*values[i], node.emit("add", {*values[i], biases[i]}));
  }
  return Status::ok();
}

}  // namespace

Status import_multi_head_attention(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 10));
  if (node.has_input(8) || node.has_input(9)) return unsupported("a cache that is shared by beams");
  Parts parts{node.input(0), node.input(1), node.input(2), node.input(6), node.input(7), node.input(4), node.input(5)};
  if (!parts.k.valid()) {
    const ValueId packed = parts.q;
    if (node.type(packed).shape.rank() != 5) return invalid_argument("it has neither keys nor all in one");
    NEREID_TRY(parts.q, unpack(node, packed, 0));
    NEREID_TRY(parts.k, unpack(node, packed, 1));
    NEREID_TRY(parts.v, unpack(node, packed, 2));
  } else if (!parts.v.valid()) {
    const ValueId packed = parts.k;
    if (node.type(packed).shape.rank() != 5)
      return invalid_argument("it has neither values nor keys and values in one");
    NEREID_TRY(parts.k, unpack(node, packed, 0));
    NEREID_TRY(parts.v, unpack(node, packed, 1));
  }
  if (node.has_input(3)) NEREID_RETURN_IF_ERROR(add_biases(node, node.input(3), parts));
  if (node.output_count() > 3 && node.wants_output(3))
    return unsupported("the products of queries and keys as a result");
  const bool present = node.output_count() > 1;
  NEREID_TRY(const std::vector<ValueId> results, attend(node, parts, present));
  for (size_t i = 0; i < node.output_count() && i < 3; ++i)
    if (node.wants_output(i)) node.give(i, results[i]);
  return Status::ok();
}

// Inputs: x [N, S, I], weights [I, 3 * H * D], bias, mask_index, past [2, N, H, P, D], attention_bias.
Status import_microsoft_attention(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(2, 6));
  NEREID_TRY(const int64_t rotary, node.integer("do_rotary", 0));
  if (rotary != 0) return unsupported("rotary embeddings inside of it (do_rotary)");
  NEREID_TRY(ValueId x, node.emit("matmul", {node.input(0), node.input(1)}));
  if (node.has_input(2)) {
    NEREID_TRY(x, node.emit("add", {x, node.input(2)}));
  }
  NEREID_TRY(std::vector<int64_t> sizes, node.integers("qkv_hidden_sizes", std::vector<int64_t>()));
  if (sizes.empty()) {
    const Shape& shape = node.type(x).shape;
    if (shape.rank() != 3 || !shape[2].is_static()) return unsupported("projections to {}", node.type(x).to_string());
    sizes.assign(3, shape[2].size() / 3);
  }
  if (sizes.size() != 3) return invalid_argument("qkv_hidden_sizes has {} numbers and should have 3", sizes.size());
  NEREID_TRY(const std::vector<ValueId> qkv, cut(node, x, sizes));
  Parts parts{qkv[0], qkv[1], qkv[2], {}, {}, node.input(3), node.input(5)};
  if (node.has_input(4)) {
    const auto half = [&](double i) {
      return node.emit("gather", {node.input(4), node.constant_scalar(DType::i64, i)}, {{"axis", int64_t{0}}});
    };
    NEREID_TRY(parts.past_key, half(0));
    NEREID_TRY(parts.past_value, half(1));
  }
  const bool present = node.output_count() > 1 && node.wants_output(1);
  NEREID_TRY(std::vector<ValueId> results, attend(node, parts, present));
  node.give(0, results[0]);
  if (!present) return Status::ok();
  for (size_t i : {size_t{1}, size_t{2}}) {
    NEREID_TRY(results[i], node.emit("unsqueeze", {results[i], node.constant_integers({0})}));
  }
  NEREID_TRY(const ValueId both, node.emit("concat", {results[1], results[2]}, {{"axis", int64_t{0}}}));
  node.give(1, both);
  return Status::ok();
}

}  // namespace nereid::import::onnx
