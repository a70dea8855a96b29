// SPDX-License-Identifier: Apache-2.0
// tf_idf_vectorizer: how often each known n-gram stands in a text of words or numbers, its parts up to so many places
// apart.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "ops/elements.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"mode", AttrSpec::Kind::kString, "", "TF: the count; IDF: the weight if there is any; TFIDF: count times weight"},
    {"min_gram_length", AttrSpec::Kind::kInt, "", "the fewest parts of an n-gram that is counted"},
    {"max_gram_length", AttrSpec::Kind::kInt, "", "the most"},
    {"max_skip_count", AttrSpec::Kind::kInt, "", "how many places may lie between two parts, equally many everywhere"},
    {"ngram_counts", AttrSpec::Kind::kInts, "", "where in the pool the 1-grams, 2-grams, ... begin"},
    {"ngram_indexes", AttrSpec::Kind::kInts, "", "for each n-gram of the pool, its place in the result"},
    {"pool_int64s", AttrSpec::Kind::kInts, "[]", "the n-grams one after the other, for numbers"},
    {"pool_strings", AttrSpec::Kind::kStrings, "[]", "the n-grams one after the other, for words"},
    {"weights", AttrSpec::Kind::kFloats, "[]", "for each n-gram of the pool, its weight; empty: 1"}};

// The pool cut into n-grams: group n - 1 holds the n-grams of n parts, each with its number.
template <typename T>
using Pool = std::vector<std::map<std::vector<T>, size_t>>;

Result<int64_t> result_size(const Attrs& attrs) {
  int64_t most = -1;
  for (int64_t at : attrs.integers("ngram_indexes")) {
    if (at < 0) return invalid_argument("ngram_indexes holds {}, which is no place", at);
    most = std::max(most, at);
  }
  if (most == INT64_MAX) return invalid_argument("ngram_indexes holds {}, which is too large", most);
  return most + 1;
}

template <typename T>
Result<Pool<T>> read_pool(const Attrs& attrs, const std::vector<T>& values) {
  const std::vector<int64_t>& starts = attrs.integers("ngram_counts");
  Pool<T> pool(starts.size());
  size_t number = 0;
  for (size_t g = 0; g < starts.size(); ++g) {
    const auto n = static_cast<int64_t>(g) + 1;
    const auto end = g + 1 < starts.size() ? starts[g + 1] : static_cast<int64_t>(values.size());
    if (starts[g] < 0 || starts[g] > end || end > static_cast<int64_t>(values.size()))
      return invalid_argument(
          "ngram_counts[{}] is {} and should lie between 0 and the next one, or the end of the pool", g, starts[g]);
    if ((end - starts[g]) % n != 0)
      return invalid_argument("the pool has {} parts for {}-grams, which is no multiple", end - starts[g], n);
    for (int64_t at = starts[g]; at < end; at += n)
      pool[g].emplace(std::vector<T>(values.begin() + at, values.begin() + at + n), number++);
  }
  if (number > attrs.integers("ngram_indexes").size())
    return invalid_argument("the pool has {} n-grams, but ngram_indexes has {} entries", number,
                            attrs.integers("ngram_indexes").size());
  return pool;
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  const bool words = rule.type(0).dtype == DType::string;
  if (!words) NEREID_RETURN_IF_ERROR(rule.is_index(0));
  const std::string& mode = ctx.attrs.text("mode");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return invalid_argument("mode is '{}' and should be TF, IDF or TFIDF", mode);
  if (words == ctx.attrs.texts("pool_strings").empty() || words != ctx.attrs.integers("pool_int64s").empty())
    return invalid_argument("{} should come with {} alone", rule.describe(0), words ? "pool_strings" : "pool_int64s");
  NEREID_TRY(const int64_t size, result_size(ctx.attrs));
  const size_t weights = ctx.attrs.reals("weights").size();
  if (weights != 0 && weights != ctx.attrs.integers("ngram_indexes").size())
    return invalid_argument("there are {} weights for {} n-grams", weights, ctx.attrs.integers("ngram_indexes").size());
  if (rule.rank(0) == 1) return std::vector<TensorType>{{DType::f32, Shape{size}}};
  NEREID_RETURN_IF_ERROR(rule.has_rank(0, 2));
  return std::vector<TensorType>{{DType::f32, Shape{rule.dim(0, 0), size}}};
}

DType dtype_of(const InferContext&, size_t) {
  return DType::f32;
}

// Adds how often each known n-gram of n parts stands in the text.
template <typename T>
void count_grams(const T* text, int64_t length, int64_t n, int64_t most_skipped,
                 const std::map<std::vector<T>, size_t>& known, std::vector<double>& counts) {
  if (known.empty()) return;
  std::vector<T> gram(static_cast<size_t>(n));
  // One part alone has no gaps, so it is counted once; further apart than the text is long there is nothing.
  const int64_t widest = n == 1 ? 1 : (length - 1) / (n - 1);
  for (int64_t step = 1; step <= widest && step - 1 <= most_skipped; ++step)
    for (int64_t at = 0; at + (n - 1) * step < length; ++at) {
      for (int64_t i = 0; i < n; ++i) gram[static_cast<size_t>(i)] = text[at + i * step];
      if (const auto found = known.find(gram); found != known.end()) counts[found->second] += 1;
    }
}

template <typename T>
Status count(const EvalContext& ctx, const T* x, const std::vector<T>& values) {
  NEREID_TRY(const Pool<T> pool, read_pool(ctx.attrs, values));
  const std::vector<int64_t>& places = ctx.attrs.integers("ngram_indexes");
  const int64_t length = ctx.inputs[0].row_elements();
  const int64_t size = ctx.outputs[0].row_elements();
  const std::string& mode = ctx.attrs.text("mode");
  const std::vector<double>& weights = ctx.attrs.reals("weights");
  Elements<double> y(ctx.outputs[0].elements(), 0.0);
  std::vector<double> counts(places.size());
  const int64_t least = std::max<int64_t>(ctx.attrs.integer("min_gram_length"), 1);
  const int64_t most = std::min<int64_t>(ctx.attrs.integer("max_gram_length"), static_cast<int64_t>(pool.size()));
  for (int64_t row = 0; row < ctx.inputs[0].rows(); ++row) {
    std::ranges::fill(counts, 0);
    for (int64_t n = least; n <= most; ++n)
      count_grams(x + row * length, length, n, ctx.attrs.integer("max_skip_count"), pool[static_cast<size_t>(n - 1)],
                  counts);
    for (size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] == 0) continue;
      const double weight = weights.empty() ? 1 : weights[i];
      y[row * size + places[i]] += mode == "TF" ? counts[i] : mode == "IDF" ? weight : counts[i] * weight;
    }
  }
  return store<double>(ctx.outputs[0], y);
}

Status evaluate(const EvalContext& ctx) {
  if (ctx.inputs[0].dtype == DType::string)
    return count<std::string>(ctx, ctx.inputs[0].as<std::string>(), ctx.attrs.texts("pool_strings"));
  const Elements<int64_t> x = load<int64_t>(ctx.inputs[0]);
  return count<int64_t>(ctx, x.data(), ctx.attrs.integers("pool_int64s"));
}

}  // namespace

extern constexpr OpDef kTfIdfVectorizer = {.name = "tf_idf_vectorizer",
                                           .summary =
                                               "y[ngram_indexes[i]] = how often n-gram i stands in the row, "
                                               "weighted by mode",
                                           .inputs = kInputs,
                                           .outputs = kOutputs,
                                           .attrs = kAttrs,
                                           .infer = infer,
                                           .evaluate = evaluate,
                                           .cost = cost_per_element<8>,
                                           .dtype_of = dtype_of};

}  // namespace nereid::ops
