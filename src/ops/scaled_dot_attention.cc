// SPDX-License-Identifier: Apache-2.0
// scaled_dot_attention: attention over whole tensors with masks, windows, a past and shared key heads (Vaswani et al.
// 2017; Ainslie et al. 2023). The op `attention` of language models works on pages of a cache instead.
#include <algorithm>
#include <cmath>

#include "ops/elements.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

enum : size_t { kQ, kK, kV, kMask, kPastKey, kPastValue, kValidKeys };
constexpr ArgSpec kInputs[] = {{.name = "q"},
                               {.name = "k"},
                               {.name = "v"},
                               {.name = "attn_mask", .optional = true},
                               {.name = "past_key", .optional = true},
                               {.name = "past_value", .optional = true},
                               {.name = "nonpad_kv_seqlen", .optional = true}};
// After y as wanted: present_key and present_value, qk_matmul_output.
constexpr ArgSpec kOutputs[] = {{.name = "y"}, {.name = "more", .variadic = true}};
constexpr AttrSpec kAttrs[] = {
    {"is_causal", AttrSpec::Kind::kBool, "false", "a query sees no key after its own position"},
    {"kv_num_heads", AttrSpec::Kind::kInt, "0", "heads of k and v if they have three dimensions"},
    {"left_window_size", AttrSpec::Kind::kInt, "-1", "positions before its own that a query sees; -1: all"},
    {"present", AttrSpec::Kind::kBool, "false", "whether present_key and present_value are results"},
    {"q_num_heads", AttrSpec::Kind::kInt, "0", "heads of q if it has three dimensions"},
    {"qk_matmul_output_mode", AttrSpec::Kind::kInt, "0",
     "the last result: 0 products, 1 after the softcap, 2 after masks, 3 after the softmax"},
    {"right_window_size", AttrSpec::Kind::kInt, "-1", "positions after its own that a query sees; -1: all"},
    {"scale", AttrSpec::Kind::kFloat, "0.0", "factor of products; 0: 1 / sqrt(head size)"},
    {"scores", AttrSpec::Kind::kBool, "false", "whether qk_matmul_output is a result"},
    {"softcap", AttrSpec::Kind::kFloat, "0.0", "products p become softcap * tanh(p / softcap); 0: they stay"},
    {"softmax_precision", AttrSpec::Kind::kInt, "0", "ONNX's number of the type that the softmax is meant to have"}};

// [samples, heads, steps, width] however it is stored.
struct Heads {
  Dim samples = 0, heads = 0, steps = 0, width = 0;
};

Result<Heads> heads_of(const ShapeRule& rule, size_t i, int64_t heads) {
  NEREID_RETURN_IF_ERROR(rule.is_activation(i));
  if (rule.rank(i) == 4) return Heads{rule.dim(i, 0), rule.dim(i, 1), rule.dim(i, 2), rule.dim(i, 3)};
  NEREID_RETURN_IF_ERROR(rule.has_rank(i, 3));
  if (heads < 1)
    return invalid_argument("{} has three dimensions, but the number of heads is not given", rule.describe(i));
  Dim width = rule.dim(i, 2);
  if (width.is_static()) {
    if (width.size() % heads != 0)
      return invalid_argument("{} has no whole number per head of {}", rule.describe(i), heads);
    width = Dim(width.size() / heads);
  } else {
    width = Dim::unknown();
  }
  return Heads{rule.dim(i, 0), Dim(heads), rule.dim(i, 1), width};
}

Dim sum(const Dim& a, const Dim& b) {
  if (a == Dim(0)) return b;
  if (b == Dim(0)) return a;
  return a.is_static() && b.is_static() ? Dim(a.size() + b.size()) : Dim::unknown();
}

Status equal(const Dim& a, const Dim& b, std::string_view what) {
  if (merge(a, b)) return Status::ok();
  return invalid_argument("{} are {} and {} and should be the same", what, a.to_string(), b.to_string());
}

Status check_mask(const ShapeRule& rule, const Heads& q, const Dim& total) {
  if (rule.rank(kMask) > 4) return invalid_argument("{} should have at most 4 dimensions", rule.describe(kMask));
  const Dim wanted[] = {total, q.steps, q.heads, q.samples};  // from the last
  for (int d = 0; d < rule.rank(kMask); ++d) {
    const Dim& size = rule.dim(kMask, -1 - d);
    const bool shorter = d == 0 && size.is_static() && total.is_static() && size.size() < total.size();
    if (size != Dim(1) && !shorter && !merge(size, wanted[d]))
      return invalid_argument("{} does not broadcast to {}", rule.describe(kMask),
                              Shape{q.samples, q.heads, q.steps, total}.to_string());
  }
  return Status::ok();
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_TRY(const Heads q, heads_of(rule, kQ, ctx.attrs.integer("q_num_heads")));
  NEREID_TRY(const Heads k, heads_of(rule, kK, ctx.attrs.integer("kv_num_heads")));
  NEREID_TRY(const Heads v, heads_of(rule, kV, ctx.attrs.integer("kv_num_heads")));
  NEREID_RETURN_IF_ERROR(equal(q.samples, k.samples, "the samples of q and k"));
  NEREID_RETURN_IF_ERROR(equal(k.samples, v.samples, "the samples of k and v"));
  NEREID_RETURN_IF_ERROR(equal(q.width, k.width, "the head sizes of q and k"));
  NEREID_RETURN_IF_ERROR(equal(k.heads, v.heads, "the heads of k and v"));
  NEREID_RETURN_IF_ERROR(equal(k.steps, v.steps, "the lengths of k and v"));
  if (q.heads.is_static() && k.heads.is_static() && (k.heads.size() < 1 || q.heads.size() % k.heads.size() != 0))
    return invalid_argument("{} heads of q cannot share {} heads of k", q.heads.size(), k.heads.size());
  if (rule.has(kPastKey) != rule.has(kPastValue))
    return invalid_argument("past_key and past_value come together or not at all");
  Dim past = 0;
  if (rule.has(kPastKey)) {
    if (rule.has(kValidKeys)) return invalid_argument("nonpad_kv_seqlen cannot be given together with past_key");
    past = rule.rank(kPastKey) == 4 ? rule.dim(kPastKey, 2) : Dim(0);
    for (size_t i : {kPastKey, kPastValue}) {
      const Heads& now = i == kPastKey ? k : v;
      NEREID_RETURN_IF_ERROR(rule.is_activation(i));
      NEREID_RETURN_IF_ERROR(rule.has_rank(i, 4));
      NEREID_RETURN_IF_ERROR(equal(rule.dim(i, 0), now.samples, "the samples of the past and now"));
      NEREID_RETURN_IF_ERROR(equal(rule.dim(i, 1), now.heads, "the heads of the past and now"));
      NEREID_RETURN_IF_ERROR(equal(rule.dim(i, 2), past, "the lengths of the past keys and values"));
      NEREID_RETURN_IF_ERROR(equal(rule.dim(i, 3), now.width, "the head sizes of the past and now"));
    }
  }
  const Dim total = sum(past, k.steps);
  if (rule.has(kMask)) NEREID_RETURN_IF_ERROR(check_mask(rule, q, total));
  if (rule.has(kValidKeys)) {
    NEREID_RETURN_IF_ERROR(rule.is_index(kValidKeys));
    NEREID_RETURN_IF_ERROR(rule.has_rank(kValidKeys, 1));
    NEREID_RETURN_IF_ERROR(equal(rule.dim(kValidKeys, 0), q.samples, "the samples of nonpad_kv_seqlen and q"));
  }
  if (const int64_t mode = ctx.attrs.integer("qk_matmul_output_mode"); mode < 0 || mode > 3)
    return invalid_argument("qk_matmul_output_mode is {} and should be 0 to 3", mode);
  TensorType y{rule.type(kQ).dtype, {q.samples, q.heads, q.steps, v.width}};
  if (rule.rank(kQ) == 3)
    y.shape = {q.samples, q.steps,
               q.heads.is_static() && v.width.is_static() ? Dim(q.heads.size() * v.width.size()) : Dim::unknown()};
  std::vector<TensorType> results{y};
  if (ctx.attrs.boolean("present")) {
    results.push_back({rule.type(kK).dtype, {k.samples, k.heads, total, k.width}});
    results.push_back({rule.type(kV).dtype, {v.samples, v.heads, total, v.width}});
  }
  if (ctx.attrs.boolean("scores")) results.push_back({y.dtype, {q.samples, q.heads, q.steps, total}});
  return results;
}

DType dtype_of(const InferContext& ctx, size_t output) {
  const TensorType* type = ctx.inputs[output == 2 && ctx.attrs.boolean("present") ? kV : kQ];
  return type != nullptr ? type->dtype : DType::f32;
}

// The numbers of one argument as [samples, heads, steps, width].
struct HeadValues {
  int64_t samples = 0, heads = 0, steps = 0, width = 0;
  Elements<double> values;
  const double* at(int64_t n, int64_t h, int64_t t) const {
    return values.data() + ((n * heads + h) * steps + t) * width;
  }
  double* at(int64_t n, int64_t h, int64_t t) { return values.data() + ((n * heads + h) * steps + t) * width; }
};

HeadValues load_heads(const ConstTensorView& x, int64_t heads) {
  HeadValues out;
  if (x.rank() == 4) {
    out = {x.sizes[0], x.sizes[1], x.sizes[2], x.sizes[3], load<double>(x)};
    return out;
  }
  out = {x.sizes[0], heads, x.sizes[1], x.sizes[2] / heads, Elements<double>(x.elements())};
  const Elements<double> flat = load<double>(x);
  for (int64_t n = 0; n < out.samples; ++n)
    for (int64_t t = 0; t < out.steps; ++t)
      for (int64_t h = 0; h < heads; ++h)
        std::copy_n(flat.data() + ((n * out.steps + t) * heads + h) * out.width, out.width, out.at(n, h, t));
  return out;
}

// The past before what is new.
HeadValues join(const ConstTensorView& past, HeadValues now) {
  if (past.data == nullptr) return now;
  const HeadValues before = load_heads(past, now.heads);
  HeadValues all{now.samples, now.heads, before.steps + now.steps, now.width, {}};
  all.values = Elements<double>(before.values.size() + now.values.size());
  for (int64_t n = 0; n < now.samples; ++n)
    for (int64_t h = 0; h < now.heads; ++h) {
      std::copy_n(before.at(n, h, 0), before.steps * now.width, all.at(n, h, 0));
      std::copy_n(now.at(n, h, 0), now.steps * now.width, all.at(n, h, before.steps));
    }
  return all;
}

// What a mask adds to the score of a query and a key; keys that it does not reach are not seen.
class Mask {
 public:
  explicit Mask(const ConstTensorView& view) : present_(view.data != nullptr) {
    if (!present_) return;
    values_ = load<double>(view);
    if (view.dtype == DType::boolean)
      for (double& v : values_) v = v != 0 ? 0 : -HUGE_VAL;
    int64_t stride = 1;
    for (int d = 0; d < view.rank(); ++d) {
      const int64_t size = view.sizes[static_cast<size_t>(view.rank() - 1 - d)];
      if (size != 1) step_[d] = stride;
      stride *= size;
    }
    keys_ = view.rank() > 0 ? view.sizes.back() : 1;
  }
  double operator()(int64_t n, int64_t h, int64_t t, int64_t key) const {
    if (!present_) return 0;
    if (key >= keys_ && keys_ != 1) return -HUGE_VAL;
    if (values_.size() == 0) return -HUGE_VAL;
    return values_[n * step_[3] + h * step_[2] + t * step_[1] + key * step_[0]];
  }

 private:
  bool present_;
  Elements<double> values_;
  int64_t step_[4] = {0, 0, 0, 0};  // of key, query, head, sample
  int64_t keys_ = 0;
};

// In place; a row of which nothing is seen becomes 0.
void softmax(double* row, int64_t n) {
  double largest = -HUGE_VAL;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, row[i]);
  double total = 0;
  for (int64_t i = 0; i < n; ++i) total += row[i] = largest == -HUGE_VAL ? 0 : std::exp(row[i] - largest);
  for (int64_t i = 0; i < n; ++i) row[i] = total == 0 ? 0 : row[i] / total;
}

struct Limits {
  bool causal;
  int64_t left, right;
  bool sees(int64_t position, int64_t key) const {
    return !(causal && key > position) && !(left >= 0 && key < position - left) &&
           !(right >= 0 && key > position && key - position > right);
  }
};

Status evaluate(const EvalContext& ctx) {
  const HeadValues q = load_heads(ctx.inputs[kQ], ctx.attrs.integer("q_num_heads"));
  const int64_t kv_heads = ctx.attrs.integer("kv_num_heads");
  const HeadValues k = join(ctx.inputs[kPastKey], load_heads(ctx.inputs[kK], kv_heads));
  const HeadValues v = join(ctx.inputs[kPastValue], load_heads(ctx.inputs[kV], kv_heads));
  const Mask mask(ctx.inputs[kMask]);
  const int64_t past = ctx.inputs[kPastKey].data != nullptr ? ctx.inputs[kPastKey].sizes[2] : 0;
  Elements<int64_t> valid;
  if (ctx.inputs[kValidKeys].data != nullptr) valid = load<int64_t>(ctx.inputs[kValidKeys]);
  const double scale =
      ctx.attrs.real("scale") != 0 ? ctx.attrs.real("scale") : 1 / std::sqrt(static_cast<double>(q.width));
  const double softcap = ctx.attrs.real("softcap");
  const int64_t mode = ctx.attrs.boolean("scores") ? ctx.attrs.integer("qk_matmul_output_mode") : -1;
  const Limits limits{ctx.attrs.boolean("is_causal"),
                      std::clamp<int64_t>(ctx.attrs.integer("left_window_size"), -1, int64_t{1} << 60),
                      std::clamp<int64_t>(ctx.attrs.integer("right_window_size"), -1, int64_t{1} << 60)};
  const bool is_flat = ctx.inputs[kQ].rank() == 3;
  Elements<double> y(ctx.outputs[0].elements());
  Elements<double> scores(mode >= 0 ? ctx.outputs.back().elements() : 0);
  Elements<double> row(k.steps);
  for (int64_t n = 0; n < q.samples; ++n) {
    const int64_t keys = valid.size() > 0 ? std::clamp<int64_t>(valid[n], 0, k.steps) : k.steps;
    const int64_t offset = valid.size() > 0 ? keys - q.steps : past;
    for (int64_t h = 0; h < q.heads; ++h) {
      const int64_t kv = h / (q.heads / k.heads);
      for (int64_t t = 0; t < q.steps; ++t) {
        const auto record = [&](int64_t at) {
          if (at == mode)
            std::copy_n(row.data(), row.size(), scores.data() + ((n * q.heads + h) * q.steps + t) * k.steps);
        };
        for (int64_t key = 0; key < k.steps; ++key) {
          double product = 0;
          for (int64_t i = 0; i < q.width; ++i) product += q.at(n, h, t)[i] * k.at(n, kv, key)[i];
          row[key] = product * scale;
        }
        record(0);
        if (softcap != 0)
          for (double& s : row) s = softcap * std::tanh(s / softcap);
        record(1);
        for (int64_t key = 0; key < k.steps; ++key) {
          const bool sees = key < keys && limits.sees(offset + t, key);
          row[key] = sees ? row[key] + mask(n, h, t, key) : -HUGE_VAL;
        }
        record(2);
        softmax(row.data(), k.steps);
        record(3);
        double* out =
            y.data() + (is_flat ? (n * q.steps + t) * q.heads + h : (n * q.heads + h) * q.steps + t) * v.width;
        for (int64_t key = 0; key < k.steps; ++key)
          if (row[key] != 0)
            for (int64_t i = 0; i < v.width; ++i) out[i] += row[key] * v.at(n, kv, key)[i];
      }
    }
  }
  if (ctx.attrs.boolean("present")) {
    NEREID_RETURN_IF_ERROR(store<double>(ctx.outputs[1], k.values));
    NEREID_RETURN_IF_ERROR(store<double>(ctx.outputs[2], v.values));
  }
  if (mode >= 0) NEREID_RETURN_IF_ERROR(store<double>(ctx.outputs.back(), scores));
  return store<double>(ctx.outputs[0], y);
}

Cost cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost c = traffic(ctx, outputs);
  const Shape& k = ctx.inputs[kK]->shape;
  const Dim& keys = k[k.rank() - 2];
  c.flops = 4 * elements_of(outputs[0]) * static_cast<double>(k.rank() == 4 && keys.is_static() ? keys.size() : 1);
  return c;
}

}  // namespace

extern constexpr OpDef kScaledDotAttention = {.name = "scaled_dot_attention",
                                              .summary = "y = softmax(scale * q * k^T + mask) * v for each head",
                                              .inputs = kInputs,
                                              .outputs = kOutputs,
                                              .attrs = kAttrs,
                                              .infer = infer,
                                              .evaluate = evaluate,
                                              .cost = cost,
                                              .tolerance_f32 = 1e-4,
                                              .dtype_of = dtype_of};

}  // namespace nereid::ops
