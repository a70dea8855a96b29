// SPDX-License-Identifier: Apache-2.0
// attention_packed: attention of whole sequences that lie one behind the other, without a cache and without padding:
// what encoders do, and decoders that only read.
//
// Sequence s is the rows starts[s] to starts[s + 1] - 1 of q, k and v; a query sees the keys of its own sequence, with
// `causal` no later ones, with a window w only those less than w places away. A distance_bias of [heads, 2 m - 1] adds
// element (key's place - query's place) + m - 1 to a score (MPNet, T5); sequences are at most m long then.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/numeric.h"
#include "ops/op.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

enum : size_t { kQ, kK, kV, kStarts, kDistanceBias };
constexpr ArgSpec kInputs[] = {
    {.name = "q"}, {.name = "k"}, {.name = "v"}, {.name = "starts"}, {.name = "distance_bias", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"heads", AttrSpec::Kind::kInt, "", "query heads"},
    {"kv_heads", AttrSpec::Kind::kInt, "", "key and value heads; each serves heads / kv_heads query heads"},
    {"head_dim", AttrSpec::Kind::kInt, "", "elements of a head"},
    {"scale", AttrSpec::Kind::kFloat, "", "multiplies the scores; usually head_dim^-0.5"},
    {"causal", AttrSpec::Kind::kBool, "false", "a query sees no key after its own place"},
    {"window", AttrSpec::Kind::kInt, "0", "a query sees keys less than so many places away; 0: all"},
    {"softcap", AttrSpec::Kind::kFloat, "0.0", "scores become softcap * tanh(score / softcap); 0: unchanged"},
};

Status check_sizes(const InferContext& ctx) {
  constexpr int64_t kLimit = 1 << 20;  // keeps products of the two within range, whatever a file says
  for (const char* name : {"heads", "kv_heads", "head_dim"})
    if (const int64_t value = ctx.attrs.integer(name); value < 1 || value > kLimit)
      return invalid_argument("{} is {} and should be between 1 and {}", name, value, kLimit);
  const int64_t heads = ctx.attrs.integer("heads"), kv_heads = ctx.attrs.integer("kv_heads");
  if (heads % kv_heads != 0) return invalid_argument("heads ({}) is not a multiple of kv_heads ({})", heads, kv_heads);
  if (ctx.attrs.integer("window") < 0)
    return invalid_argument("window is {}; 0 means none", ctx.attrs.integer("window"));
  return Status::ok();
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(check_sizes(ctx));
  const int64_t head_dim = ctx.attrs.integer("head_dim");
  for (size_t i : {kQ, kK, kV}) {
    NEREID_RETURN_IF_ERROR(rule.is_activation(i));
    NEREID_RETURN_IF_ERROR(rule.has_rank(i, 2));
    NEREID_RETURN_IF_ERROR(rule.agree(kQ, 0, i, 0));
    NEREID_RETURN_IF_ERROR(i == kQ
                               ? rule.has_size(i, 1, ctx.attrs.integer("heads") * head_dim, "heads * head_dim")
                               : rule.has_size(i, 1, ctx.attrs.integer("kv_heads") * head_dim, "kv_heads * head_dim"));
  }
  NEREID_RETURN_IF_ERROR(rule.is_index(kStarts));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kStarts, 1));
  if (rule.has(kDistanceBias)) {
    NEREID_RETURN_IF_ERROR(rule.is_activation(kDistanceBias));
    NEREID_RETURN_IF_ERROR(rule.has_rank(kDistanceBias, 2));
    NEREID_RETURN_IF_ERROR(rule.has_size(kDistanceBias, 0, ctx.attrs.integer("heads"), "heads"));
    if (const Dim& places = rule.dim(kDistanceBias, 1); places.is_static() && places.size() % 2 == 0)
      return invalid_argument("{} should have an odd number of distances", rule.describe(kDistanceBias));
  }
  return std::vector<TensorType>{rule.type(kQ)};
}

struct Setup {
  int64_t heads, kv_heads, head_dim, window, distances;
  double scale, softcap;
  bool causal;
  std::vector<float> q, k, v, bias;
};

bool sees(const Setup& s, int64_t query, int64_t key) {
  return !(s.causal && key > query) && (s.window == 0 || std::abs(key - query) < s.window);
}

// One query head of one token, places counted from the sequence's first row.
void attend(const Setup& s, int64_t first, int64_t size, int64_t query, int64_t head, std::vector<double>& scores,
            std::vector<double>& y) {
  const int64_t kv_head = head / (s.heads / s.kv_heads);
  const float* q = s.q.data() + ((first + query) * s.heads + head) * s.head_dim;
  double largest = -std::numeric_limits<double>::infinity();
  scores.assign(static_cast<size_t>(size), largest);
  for (int64_t key = 0; key < size; ++key) {
    if (!sees(s, query, key)) continue;
    const float* k = s.k.data() + ((first + key) * s.kv_heads + kv_head) * s.head_dim;
    double score = 0;
    for (int64_t i = 0; i < s.head_dim; ++i) score += static_cast<double>(q[i]) * k[i];
    score *= s.scale;
    if (s.softcap > 0) score = s.softcap * std::tanh(score / s.softcap);
    if (s.distances > 0) score += s.bias[static_cast<size_t>(head * s.distances + key - query + s.distances / 2)];
    scores[static_cast<size_t>(key)] = score;
    largest = std::max(largest, score);
  }
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - largest);
  y.assign(static_cast<size_t>(s.head_dim), 0);
  for (int64_t key = 0; key < size; ++key) {
    if (!sees(s, query, key)) continue;
    const float* v = s.v.data() + ((first + key) * s.kv_heads + kv_head) * s.head_dim;
    for (int64_t i = 0; i < s.head_dim; ++i)
      y[static_cast<size_t>(i)] += scores[static_cast<size_t>(key)] / sum * static_cast<double>(v[i]);
  }
}

Status check_starts(const std::vector<int64_t>& starts, int64_t rows, int64_t distances) {
  if (starts.empty() || starts.front() != 0 || starts.back() != rows || !std::ranges::is_sorted(starts))
    return invalid_argument("starts should rise from 0 to the number of rows, {}", rows);
  for (size_t s = 1; s < starts.size() && distances > 0; ++s)
    if (starts[s] - starts[s - 1] > distances / 2 + 1)
      return invalid_argument("sequence {} has {} rows, more than the {} that the distances reach", s - 1,
                              starts[s] - starts[s - 1], distances / 2 + 1);
  return Status::ok();
}

Status evaluate(const EvalContext& ctx) {
  Setup s{.heads = ctx.attrs.integer("heads"),
          .kv_heads = ctx.attrs.integer("kv_heads"),
          .head_dim = ctx.attrs.integer("head_dim"),
          .window = ctx.attrs.integer("window"),
          .distances = ctx.inputs[kDistanceBias].data != nullptr ? ctx.inputs[kDistanceBias].sizes[1] : 0,
          .scale = ctx.attrs.real("scale"),
          .softcap = ctx.attrs.real("softcap"),
          .causal = ctx.attrs.boolean("causal"),
          .q = {},
          .k = {},
          .v = {},
          .bias = {}};
  NEREID_TRY(s.q, read_floats(ctx.inputs[kQ]));
  NEREID_TRY(s.k, read_floats(ctx.inputs[kK]));
  NEREID_TRY(s.v, read_floats(ctx.inputs[kV]));
  NEREID_TRY(s.bias, read_floats(ctx.inputs[kDistanceBias]));
  NEREID_TRY(const auto starts, read_integers(ctx.inputs[kStarts]));
  NEREID_RETURN_IF_ERROR(check_starts(starts, ctx.inputs[kQ].sizes[0], s.distances));
  std::vector<double> scores, y;
  for (size_t n = 1; n < starts.size(); ++n) {
    const int64_t first = starts[n - 1], size = starts[n] - first;
    for (int64_t query = 0; query < size; ++query)
      for (int64_t head = 0; head < s.heads; ++head) {
        attend(s, first, size, query, head, scores, y);
        const int64_t at = ((first + query) * s.heads + head) * s.head_dim;
        for (int64_t i = 0; i < s.head_dim; ++i)
          write_float(ctx.outputs[0], at + i, static_cast<float>(y[static_cast<size_t>(i)]));
      }
  }
  return Status::ok();
}

// How the rows fall into sequences is known only at run time: the cost is that of one sequence, the upper bound.
Cost cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost c = traffic(ctx, outputs);
  const Dim& rows = ctx.inputs[kQ]->shape[0];
  c.flops = 4 * elements_of(outputs[0]) * static_cast<double>(rows.is_static() ? rows.size() : 1);
  return c;
}

}  // namespace

extern constexpr OpDef kAttentionPacked = {
    .name = "attention_packed",
    .summary = "y = softmax(softcap(scale * q . k^T) + distance_bias) . v within each of the sequences",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .cost = cost,
    .tolerance_f32 = 5e-5};

}  // namespace nereid::ops
