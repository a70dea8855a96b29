// SPDX-License-Identifier: Apache-2.0
// GroupQueryAttention of com.microsoft: new keys and values are turned by their positions and written into a cache that
// may be longer than what it holds.
#include "import/onnx/ops/attention_mask.h"
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {
namespace {

enum : size_t { kQuery, kKey, kValue, kPastKey, kPastValue, kLengths, kTotal, kCos, kSin, kPositions, kBias, kSink };

Result<ValueId> reshape(NodeContext& node, ValueId x, std::vector<int64_t> sizes) {
  return node.emit("reshape_to", {x, node.constant_integers(sizes)}, {{"allowzero", false}});
}

// [N, S, H * D] as [N, H, S, D].
Result<ValueId> into_heads(NodeContext& node, ValueId x, int64_t heads) {
  NEREID_TRY(const ValueId steps, reshape(node, x, {0, 0, heads, -1}));
  return node.emit("transpose", {steps}, {{"permutation", std::vector<int64_t>{0, 2, 1, 3}}});
}

Result<ValueId> size_of(NodeContext& node, ValueId x, int64_t dimension) {
  return node.emit("shape", {x}, {{"start", dimension}, {"end", dimension + 1}});
}

struct Cache {
  ValueId write_at;  // i64[N]: where each sample's new steps go
  ValueId filled;    // i64[N]: how many there are then
  ValueId steps;     // i64[1]: how many are new
};

Result<Cache> place_of(NodeContext& node) {
  Cache cache;
  NEREID_TRY(cache.steps, size_of(node, node.input(kQuery), 1));
  NEREID_TRY(ValueId last, node.emit("cast", {node.input(kLengths)}, {{"dtype", std::string("i64")}}));
  NEREID_TRY(last, reshape(node, last, {-1}));
  NEREID_TRY(const ValueId filled, node.emit("add", {last, node.constant_integers({1})}));
  // Samples of a first prompt that are shorter than others are padded at their ends.
  NEREID_TRY(cache.filled, node.emit("max", {filled, cache.steps}));
  NEREID_TRY(cache.write_at, node.emit("sub", {cache.filled, cache.steps}));
  return cache;
}

// The past made long enough, with the new steps [N, H, S, D] in their place.
Result<ValueId> update(NodeContext& node, const Cache& cache, ValueId past, ValueId fresh) {
  if (!past.valid()) return fresh;
  NEREID_TRY(ValueId total, node.emit("cast", {node.input(kTotal)}, {{"dtype", std::string("i64")}}));
  NEREID_TRY(total, reshape(node, total, {1}));
  NEREID_TRY(const ValueId length, size_of(node, past, 2));
  NEREID_TRY(ValueId missing, node.emit("sub", {total, length}));
  NEREID_TRY(missing, node.emit("max", {missing, node.constant_integers({0})}));
  NEREID_TRY(const ValueId pads, node.emit("concat", {node.constant_integers({0}), missing}, {{"axis", int64_t{0}}}));
  NEREID_TRY(const ValueId room, node.emit("pad", {past, pads, ValueId{}, node.constant_integers({2})}));
  return node.emit("tensor_scatter", {room, fresh, cache.write_at});
}

// [N, S]: the position of every new step.
Result<ValueId> positions_of(NodeContext& node, const Cache& cache) {
  if (node.has_input(kPositions)) return node.input(kPositions);
  NEREID_TRY(const ValueId steps, reshape(node, cache.steps, {}));
  NEREID_TRY(const ValueId counted,
             node.emit("range", {node.constant_scalar(DType::i64, 0), steps, node.constant_scalar(DType::i64, 1)}));
  NEREID_TRY(const ValueId first, reshape(node, cache.write_at, {-1, 1}));
  return node.emit("add", {first, counted});
}

Status refuse_rest(const NodeContext& node) {
  NEREID_TRY(const int64_t smooth, node.integer("smooth_softmax", 0));
  if (smooth > 0 || node.has_input(kSink)) return unsupported("a softmax with a sink (smooth_softmax, head_sink)");
  if (node.input_count() > kSink + 1) return unsupported("more than {} inputs: a quantised cache", kSink + 1);
  if (node.output_count() > 3 && node.wants_output(3))
    return unsupported("the products of queries and keys as a result");
  return Status::ok();
}

}  // namespace

Status import_group_query_attention(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(7, 14));
  NEREID_RETURN_IF_ERROR(refuse_rest(node));
  NEREID_TRY(const int64_t heads, node.integer("num_heads"));
  NEREID_TRY(const int64_t kv_heads, node.integer("kv_num_heads"));
  NEREID_TRY(const int64_t rotary, node.integer("do_rotary", 0));
  NEREID_TRY(const int64_t interleaved, node.integer("rotary_interleaved", 0));
  NEREID_TRY(const int64_t window, node.integer("local_window_size", -1));
  NEREID_TRY(const double scale, node.real("scale", 0.0));
  NEREID_TRY(const double softcap, node.real("softcap", 0.0));
  if (heads < 1 || kv_heads < 1) return invalid_argument("it has {} and {} heads", heads, kv_heads);
  ValueId q = node.input(kQuery), k = node.input(kKey), v = node.input(kValue);
  if (!k.valid()) {
    const Shape& shape = node.type(q).shape;
    if (shape.rank() != 3 || !shape[2].is_static() || shape[2].size() % (heads + 2 * kv_heads) != 0)
      return unsupported("queries, keys and values in one {}", node.type(q).to_string());
    const int64_t width = shape[2].size() / (heads + 2 * kv_heads);
    NEREID_TRY(const std::vector<ValueId> parts, cut(node, q, {heads * width, kv_heads * width, kv_heads * width}));
    q = parts[0];
    k = parts[1];
    v = parts[2];
  }
  NEREID_TRY(const Cache cache, place_of(node));
  NEREID_TRY(q, into_heads(node, q, heads));
  NEREID_TRY(k, into_heads(node, k, kv_heads));
  NEREID_TRY(v, into_heads(node, v, kv_heads));
  if (rotary != 0) {
    NEREID_TRY(const ValueId positions, positions_of(node, cache));
    const Shape& angles = node.type(node.input(kCos)).shape;
    const Shape& head = node.type(q).shape;
    int64_t turned = 0;  // all
    if (angles.rank() == 2 && angles[1].is_static() && head.rank() == 4 && head[3] != Dim(2 * angles[1].size()))
      turned = 2 * angles[1].size();
    const ops::Attrs attrs{{"interleaved", interleaved != 0}, {"rotary_embedding_dim", turned}};
    NEREID_TRY(q, node.emit("rotary_embedding", {q, node.input(kCos), node.input(kSin), positions}, attrs));
    NEREID_TRY(k, node.emit("rotary_embedding", {k, node.input(kCos), node.input(kSin), positions}, attrs));
  }
  NEREID_TRY(k, update(node, cache, node.input(kPastKey), k));
  NEREID_TRY(v, update(node, cache, node.input(kPastValue), v));
  NEREID_TRY(ValueId y,
             node.emit("scaled_dot_attention", {q, k, v, node.input(kBias), ValueId{}, ValueId{}, cache.filled},
                       {{"is_causal", true},
                        {"left_window_size", window > 0 ? window - 1 : int64_t{-1}},
                        {"scale", scale},
                        {"softcap", softcap}}));
  NEREID_TRY(y, merge_heads(node, y));
  node.give(0, y);
  if (node.output_count() > 1 && node.wants_output(1)) node.give(1, k);
  if (node.output_count() > 2 && node.wants_output(2)) node.give(2, v);
  return Status::ok();
}

}  // namespace nereid::import::onnx
