// SPDX-License-Identifier: Apache-2.0
// QAttention of com.microsoft: the projections are products of bytes, the attention itself is real.
#include "import/onnx/ops/attention_mask.h"
#include "import/onnx/ops/node_context.h"
#include "import/onnx/ops/quantized.h"

namespace nereid::import::onnx {
namespace {

enum : size_t { kX, kWeight, kQkvBias, kXScale, kWeightScale, kMask, kXZero, kWeightZero, kPast };

struct Past {
  ValueId key, value;  // absent without a past
  Dim steps = 0;
};

// The past is [2, n, heads, steps, size].
Result<Past> past_of(NodeContext& node) {
  if (!node.has_input(kPast)) return Past{};
  const Shape& shape = node.type(node.input(kPast)).shape;
  Past past{.steps = shape.rank() == 5 ? shape[3] : Dim::unknown()};
  for (int64_t i : {0, 1}) {
    NEREID_TRY((i == 0 ? past.key : past.value),
               node.emit("gather", {node.input(kPast), node.constant_scalar(DType::i64, static_cast<double>(i))},
                         {{"axis", int64_t{0}}}));
  }
  return past;
}

}  // namespace

Status import_qattention(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(5, 9));
  NEREID_TRY(const int64_t rotary, node.integer("do_rotary", 0));
  if (rotary != 0) return unsupported("rotary embeddings inside of it (do_rotary)");
  NEREID_TRY(const int64_t heads, node.integer("num_heads"));
  NEREID_TRY(const int64_t unidirectional, node.integer("unidirectional", 0));
  NEREID_TRY(const double scale, node.real("scale", 0.0));

  NEREID_TRY(const ValueId x,
             scaled_product(node, {node.input(kX), node.input(kWeight), node.input(kXZero), node.input(kWeightZero)},
                            node.input(kXScale), node.input(kWeightScale), node.input(kQkvBias)));
  const ops::TensorType type = node.type(x);
  if (type.shape.rank() != 3 || !type.shape[2].is_static() || type.shape[2].size() % 3 != 0)
    return unsupported("projections to {}", type.to_string());
  NEREID_TRY(const std::vector<ValueId> qkv, cut(node, x, std::vector<int64_t>(3, type.shape[2].size() / 3)));

  NEREID_TRY(const Past past, past_of(node));
  const Dim& steps = type.shape[1];
  const Dim total =
      past.steps.is_static() && steps.is_static() ? Dim(past.steps.size() + steps.size()) : Dim::unknown();
  NEREID_TRY(const ValueId mask, attention_mask(node, node.input(kMask), ValueId(), type.dtype, total));
  const bool present = node.output_count() > 1 && node.wants_output(1);
  NEREID_TRY(const std::vector<ValueId> results,
             node.emit_all("scaled_dot_attention", {qkv[0], qkv[1], qkv[2], mask, past.key, past.value},
                           {{"q_num_heads", heads},
                            {"kv_num_heads", heads},
                            {"scale", scale},
                            {"is_causal", unidirectional != 0},
                            {"present", present}},
                           present ? 3 : 1));
  node.give(0, results[0]);
  if (!present) return Status::ok();
  std::vector<ValueId> both;
  for (size_t i : {size_t{1}, size_t{2}}) {
    NEREID_TRY(const ValueId one, node.emit("unsqueeze", {results[i], node.constant_integers({0})}));
    both.push_back(one);
  }
  NEREID_TRY(const ValueId joined, node.emit("concat", std::move(both), {{"axis", int64_t{0}}}));
  node.give(1, joined);
  return Status::ok();
}

}  // namespace nereid::import::onnx
