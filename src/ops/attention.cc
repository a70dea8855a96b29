// SPDX-License-Identifier: Apache-2.0
// attention: causal attention of packed sequences over a paged key/value cache, with grouped heads, a sliding window,
// a soft cap on the scores and rotary positions built in.
//
// For every token t of sequence s = sequence[t] at position p = positions[t]: its key (rotated) and value are stored in
// slot p % page_tokens of page page_table[s, p / page_tokens]; then its query (rotated) attends to the positions
// q <= p of its sequence, and q > p - window if there is one. All tokens of a step are stored before any attends.
// Caches are [pages, kv_heads, page_tokens, head_dim] and belong to this op alone. One of i8 has rows of four bytes
// more (kv_row.h): codes, then the f32 that they are multiplied by, the row's largest magnitude / 127.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/float_convert.h"
#include "ops/kv_row.h"
#include "ops/numeric.h"
#include "ops/op.h"
#include "ops/rotate.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

enum : size_t { kQ, kK, kV, kKCache, kVCache, kPositions, kSequence, kPageTable, kInvFreq };
constexpr ArgSpec kInputs[] = {{.name = "q"},
                               {.name = "k"},
                               {.name = "v"},
                               {.name = "k_cache", .state = true},
                               {.name = "v_cache", .state = true},
                               {.name = "positions"},
                               {.name = "sequence"},
                               {.name = "page_table"},
                               {.name = "inv_freq", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"heads", AttrSpec::Kind::kInt, "", "query heads"},
    {"kv_heads", AttrSpec::Kind::kInt, "", "key and value heads; each serves heads / kv_heads query heads"},
    {"head_dim", AttrSpec::Kind::kInt, "", "elements of a head"},
    {"scale", AttrSpec::Kind::kFloat, "", "multiplies the scores; usually head_dim^-0.5"},
    {"window", AttrSpec::Kind::kInt, "0", "positions a token sees, itself included; 0: all"},
    {"softcap", AttrSpec::Kind::kFloat, "0.0", "scores become softcap * tanh(score / softcap); 0: unchanged"},
    {"rope_interleaved", AttrSpec::Kind::kBool, "false", "as rope's interleaved"},
    {"rope_scale", AttrSpec::Kind::kFloat, "1.0", "as rope's scale"},
};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  const int64_t heads = ctx.attrs.integer("heads");
  const int64_t kv_heads = ctx.attrs.integer("kv_heads");
  const int64_t head_dim = ctx.attrs.integer("head_dim");
  constexpr int64_t kLimit = 1 << 20;  // keeps products of the two within range, whatever a file says
  for (auto [name, value] : {std::pair{"heads", heads}, {"kv_heads", kv_heads}, {"head_dim", head_dim}})
    if (value < 1 || value > kLimit)
      return invalid_argument("{} is {} and should be between 1 and {}", name, value, kLimit);
  if (heads % kv_heads != 0) return invalid_argument("heads ({}) is not a multiple of kv_heads ({})", heads, kv_heads);
  if (ctx.attrs.integer("window") < 0)
    return invalid_argument("window is {}; 0 means none", ctx.attrs.integer("window"));
  for (size_t i : {kQ, kK, kV}) {
    NEREID_RETURN_IF_ERROR(rule.is_activation(i));
    NEREID_RETURN_IF_ERROR(rule.has_rank(i, 2));
    NEREID_RETURN_IF_ERROR(rule.agree(kQ, 0, i, 0));
    NEREID_RETURN_IF_ERROR(i == kQ ? rule.has_size(i, 1, heads * head_dim, "heads * head_dim")
                                   : rule.has_size(i, 1, kv_heads * head_dim, "kv_heads * head_dim"));
  }
  for (size_t i : {kKCache, kVCache}) {
    NEREID_RETURN_IF_ERROR(rule.has_rank(i, 4));
    NEREID_RETURN_IF_ERROR(rule.has_size(i, 1, kv_heads, "kv_heads"));
    const bool is_coded = rule.type(i).dtype == DType::i8;
    NEREID_RETURN_IF_ERROR(rule.has_size(i, 3, kv_row_elements(rule.type(i).dtype, head_dim),
                                         is_coded ? "head_dim and a scale of 4 bytes" : "head_dim"));
  }
  NEREID_RETURN_IF_ERROR(rule.agree(kKCache, 0, kVCache, 0));
  NEREID_RETURN_IF_ERROR(rule.agree(kKCache, 2, kVCache, 2));
  for (size_t i : {kPositions, kSequence, kPageTable}) {
    NEREID_RETURN_IF_ERROR(rule.is_index(i));
    NEREID_RETURN_IF_ERROR(rule.has_rank(i, i == kPageTable ? 2 : 1));
    if (i != kPageTable) NEREID_RETURN_IF_ERROR(rule.agree(kQ, 0, i, 0));
  }
  if (rule.has(kInvFreq)) {
    NEREID_RETURN_IF_ERROR(rule.is_activation(kInvFreq));
    NEREID_RETURN_IF_ERROR(rule.has_rank(kInvFreq, 1));
    const Dim& pairs = rule.dim(kInvFreq, 0);
    if (pairs.is_static() && pairs.size() > head_dim / 2)
      return invalid_argument("{} has more frequencies than a head of {} has pairs", rule.describe(kInvFreq), head_dim);
  }
  return std::vector<TensorType>{rule.type(kQ)};
}

// Where a token's keys and values live; resolves (sequence, position) to cache rows and refuses what is out of range.
class Pages {
 public:
  Pages(const ConstTensorView& cache, const ConstTensorView& table, std::vector<int64_t> entries)
      : entries_(std::move(entries)),
        pages_(cache.sizes[0]),
        heads_(cache.sizes[1]),
        page_tokens_(cache.sizes[2]),
        sequences_(table.sizes[0]),
        pages_per_sequence_(table.sizes[1]) {}

  // The cache's row (of head_dim elements) of one head at one position.
  Result<int64_t> row(int64_t sequence, int64_t position, int64_t head) const {
    if (sequence < 0 || sequence >= sequences_)
      return invalid_argument("sequence {} is outside the page table of {} sequences", sequence, sequences_);
    if (position < 0 || position >= pages_per_sequence_ * page_tokens_)
      return invalid_argument("position {} of sequence {} is past its {} pages of {} tokens", position, sequence,
                              pages_per_sequence_, page_tokens_);
    const int64_t page = entries_[static_cast<size_t>(sequence * pages_per_sequence_ + position / page_tokens_)];
    if (page < 0 || page >= pages_)
      return invalid_argument("page {} of sequence {} is outside the cache of {} pages", page, sequence, pages_);
    return (page * heads_ + head) * page_tokens_ + position % page_tokens_;
  }

 private:
  std::vector<int64_t> entries_;
  int64_t pages_, heads_, page_tokens_, sequences_, pages_per_sequence_;
};

struct Setup {
  int64_t heads, kv_heads, head_dim, window;
  double scale, softcap, rope_scale;
  bool interleaved;
  std::vector<int64_t> positions, sequence;
  std::vector<float> inv_freq;
};

void write_codes(const TensorView& cache, int64_t row, std::span<const float> values) {
  const auto head_dim = static_cast<int64_t>(values.size());
  int8_t* codes = cache.as<int8_t>() + row * kv_row_elements(DType::i8, head_dim);
  float largest = 0;
  for (float v : values) largest = std::max(largest, std::fabs(v));
  const float inverse = largest > 0 ? 127.0f / largest : 0.0f;
  for (size_t i = 0; i < values.size(); ++i) codes[i] = static_cast<int8_t>(std::nearbyint(values[i] * inverse));
  const float scale = largest / 127.0f;
  std::memcpy(codes + head_dim, &scale, sizeof(scale));
}

void write_cache(const TensorView& cache, int64_t row, std::span<const float> values) {
  if (cache.dtype == DType::i8) return write_codes(cache, row, values);
  const auto first = row * static_cast<int64_t>(values.size());
  if (cache.dtype != DType::f8e4m3) return write_floats(cache, first, values);
  for (size_t i = 0; i < values.size(); ++i)
    cache.as<uint8_t>()[first + static_cast<int64_t>(i)] = f32_to_f8e4m3(values[i]);
}

// One element of a row.
double read_cache(const TensorView& cache, int64_t row, int64_t head_dim, int64_t i) {
  if (cache.dtype == DType::f8e4m3) return static_cast<double>(f8e4m3_to_f32(cache.as<uint8_t>()[row * head_dim + i]));
  if (cache.dtype != DType::i8) return static_cast<double>(read_float(cache, row * head_dim + i));
  const int8_t* codes = cache.as<int8_t>() + row * kv_row_elements(DType::i8, head_dim);
  float scale = 0;
  std::memcpy(&scale, codes + head_dim, sizeof(scale));
  return static_cast<double>(scale) * codes[i];
}

Status store(const Setup& s, const Pages& pages, std::vector<float>& x, const TensorView& cache, bool rotate) {
  const size_t hd = static_cast<size_t>(s.head_dim);
  for (size_t t = 0; t < s.positions.size(); ++t) {
    for (int64_t h = 0; h < s.kv_heads; ++h) {
      auto head = std::span(x).subspan((t * static_cast<size_t>(s.kv_heads) + static_cast<size_t>(h)) * hd, hd);
      if (rotate) rotate_head(head, s.positions[t], s.inv_freq, s.interleaved, s.rope_scale);
      NEREID_TRY(int64_t row, pages.row(s.sequence[t], s.positions[t], h));
      write_cache(cache, row, head);
    }
  }
  return Status::ok();
}

// One query head of one token: softmax over the scores it sees, then the weighted sum of the values.
Status attend(const Setup& s, const Pages& pages, size_t t, int64_t kv_head, std::span<const float> q,
              const TensorView& k_cache, const TensorView& v_cache, std::vector<double>& y) {
  const int64_t last = s.positions[t];
  const int64_t first = s.window > 0 ? std::max<int64_t>(0, last - s.window + 1) : 0;
  std::vector<double> scores;
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t p = first; p <= last; ++p) {
    NEREID_TRY(int64_t row, pages.row(s.sequence[t], p, kv_head));
    double score = 0;
    for (int64_t i = 0; i < s.head_dim; ++i)
      score += static_cast<double>(q[static_cast<size_t>(i)]) * read_cache(k_cache, row, s.head_dim, i);
    score *= s.scale;
    if (s.softcap > 0) score = s.softcap * std::tanh(score / s.softcap);
    scores.push_back(score);
    largest = std::max(largest, score);
  }
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - largest);
  y.assign(static_cast<size_t>(s.head_dim), 0);
  for (int64_t p = first; p <= last; ++p) {
    NEREID_TRY(int64_t row, pages.row(s.sequence[t], p, kv_head));
    const double share = scores[static_cast<size_t>(p - first)] / sum;
    for (int64_t i = 0; i < s.head_dim; ++i)
      y[static_cast<size_t>(i)] += share * read_cache(v_cache, row, s.head_dim, i);
  }
  return Status::ok();
}

Status evaluate(const EvalContext& ctx) {
  for (size_t i : {kKCache, kVCache}) {
    const DType d = ctx.inputs[i].dtype;
    const bool is_plain = is_float(d) && dtype_info(d).block_bytes >= 2;
    if (!is_plain && d != DType::f8e4m3 && d != DType::i8)
      return unsupported("the reference keeps caches in f32, f64, f16, bf16, f8e4m3 or i8, not {}", dtype_name(d));
  }
  Setup s{.heads = ctx.attrs.integer("heads"),
          .kv_heads = ctx.attrs.integer("kv_heads"),
          .head_dim = ctx.attrs.integer("head_dim"),
          .window = ctx.attrs.integer("window"),
          .scale = ctx.attrs.real("scale"),
          .softcap = ctx.attrs.real("softcap"),
          .rope_scale = ctx.attrs.real("rope_scale"),
          .interleaved = ctx.attrs.boolean("rope_interleaved"),
          .positions = {},
          .sequence = {},
          .inv_freq = {}};
  NEREID_TRY(s.positions, read_integers(ctx.inputs[kPositions]));
  NEREID_TRY(s.sequence, read_integers(ctx.inputs[kSequence]));
  NEREID_TRY(s.inv_freq, read_floats(ctx.inputs[kInvFreq]));
  NEREID_TRY(auto table, read_integers(ctx.inputs[kPageTable]));
  NEREID_TRY(auto q, read_floats(ctx.inputs[kQ]));
  NEREID_TRY(auto k, read_floats(ctx.inputs[kK]));
  NEREID_TRY(auto v, read_floats(ctx.inputs[kV]));
  const Pages pages(ctx.inputs[kKCache], ctx.inputs[kPageTable], std::move(table));
  const TensorView& k_cache = *ctx.states[kKCache];
  const TensorView& v_cache = *ctx.states[kVCache];
  NEREID_RETURN_IF_ERROR(store(s, pages, k, k_cache, true));
  NEREID_RETURN_IF_ERROR(store(s, pages, v, v_cache, false));

  const size_t hd = static_cast<size_t>(s.head_dim);
  std::vector<double> y;
  for (size_t t = 0; t < s.positions.size(); ++t) {
    for (int64_t h = 0; h < s.heads; ++h) {
      const size_t first = (t * static_cast<size_t>(s.heads) + static_cast<size_t>(h)) * hd;
      auto head = std::span(q).subspan(first, hd);
      rotate_head(head, s.positions[t], s.inv_freq, s.interleaved, s.rope_scale);
      NEREID_RETURN_IF_ERROR(attend(s, pages, t, h / (s.heads / s.kv_heads), head, k_cache, v_cache, y));
      for (size_t i = 0; i < hd; ++i)
        write_float(ctx.outputs[0], static_cast<int64_t>(first + i), static_cast<float>(y[i]));
    }
  }
  return Status::ok();
}

// How long the sequences are is known only at run time: the cost is that of a full page table, the upper bound.
Cost cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  const Shape& cache = ctx.inputs[kKCache]->shape;
  const Dim& pages = ctx.inputs[kPageTable]->shape[1];
  const double seen = static_cast<double>(pages.is_static() ? pages.size() : 1) *
                      static_cast<double>(cache[2].is_static() ? cache[2].size() : 1);
  const double new_tokens = bytes_of(*ctx.inputs[kK]) + bytes_of(*ctx.inputs[kV]);
  const DTypeInfo& format = dtype_info(ctx.inputs[kKCache]->dtype);
  const double row =
      static_cast<double>(ctx.attrs.integer("kv_heads") * kv_row_elements(format.dtype, ctx.attrs.integer("head_dim")));
  return {.flops = 4 * elements_of(outputs[0]) * seen,
          .bytes_read =
              bytes_of(*ctx.inputs[kQ]) + new_tokens + 2 * seen * row * format.block_bytes / format.block_elements,
          .bytes_written = bytes_of(outputs[0]) + new_tokens};
}

}  // namespace

extern constexpr OpDef kAttention = {
    .name = "attention",
    .summary = "stores k and v in the cache, then y = softmax(softcap(scale * q . k^T)) . v over the positions seen",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .cost = cost,
    .tolerance_f32 = 5e-5};

}  // namespace nereid::ops
