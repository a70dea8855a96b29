// SPDX-License-Identifier: Apache-2.0
// Pooling over all of an image: global_average_pool, global_max_pool, global_lp_pool.
#include <cmath>
#include <limits>

#include "ops/elements.h"
#include "ops/shape_rule.h"
#include "ops/window.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kLpAttrs[] = {{"p", AttrSpec::Kind::kFloat, "2.0", "which norm"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(0));
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(0, 2));
  if (ctx.attrs.has("p") && !(ctx.attrs.real("p") > 0))
    return invalid_argument("p is {}; it should be positive", ctx.attrs.real("p"));
  std::vector<Dim> dims(static_cast<size_t>(rule.rank(0)), Dim(1));
  dims[0] = rule.dim(0, 0);
  dims[1] = rule.dim(0, 1);
  return std::vector<TensorType>{{rule.type(0).dtype, Shape(std::move(dims))}};
}

struct Mean {
  static double start() { return 0; }
  static double add(double sum, double v, double) { return sum + v; }
  static double end(double sum, double n, double) { return sum / n; }
};
struct Largest {
  static double start() { return -std::numeric_limits<double>::infinity(); }
  static double add(double best, double v, double) { return v > best || v != v ? v : best; }
  static double end(double best, double, double) { return best; }
};
struct Norm {
  static double start() { return 0; }
  static double add(double sum, double v, double p) { return sum + std::pow(std::abs(v), p); }
  static double end(double sum, double, double p) { return std::pow(sum, 1 / p); }
};

template <typename Pool>
Status evaluate(const EvalContext& ctx) {
  const Elements<double> x = load<double>(ctx.inputs[0]);
  const double p = ctx.attrs.has("p") ? ctx.attrs.real("p") : 0;
  Elements<double> y(ctx.outputs[0].elements(), Pool::start());
  const int64_t plane = product_of(std::span(ctx.inputs[0].sizes).subspan(2));
  for (int64_t i = 0; i < y.size(); ++i) {
    for (int64_t k = i * plane; k < (i + 1) * plane; ++k) y[i] = Pool::add(y[i], x[k], p);
    y[i] = Pool::end(y[i], static_cast<double>(plane), p);
  }
  return store<double>(ctx.outputs[0], y);
}

Cost cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost c = traffic(ctx, outputs);
  c.flops = elements_of(*ctx.inputs[0]);
  return c;
}

template <typename Pool>
constexpr OpDef pool(std::string_view name, std::string_view summary, std::span<const AttrSpec> attrs = {}) {
  return {.name = name,
          .summary = summary,
          .inputs = kInputs,
          .outputs = kOutputs,
          .attrs = attrs,
          .infer = infer,
          .evaluate = evaluate<Pool>,
          .cost = cost};
}

}  // namespace

extern constexpr OpDef kGlobalAveragePool = pool<Mean>("global_average_pool", "y = the mean of all spatial positions");
extern constexpr OpDef kGlobalLpPool =
    pool<Norm>("global_lp_pool", "y = (sum over all spatial positions of |x|^p)^(1/p)", kLpAttrs);
extern constexpr OpDef kGlobalMaxPool = pool<Largest>("global_max_pool", "y = the largest of all spatial positions");

}  // namespace nereid::ops
