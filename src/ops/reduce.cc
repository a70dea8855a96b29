// SPDX-License-Identifier: Apache-2.0
// The reductions along any dimensions: reduce_l1, l2, log_sum, log_sum_exp, max, mean, min, prod, sum, sum_square.
#include "ops/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/wide.h"

namespace nereid::ops {

Result<std::vector<bool>> reduced_dimensions(std::span<const int64_t> axes, int rank, bool noop) {
  std::vector<bool> reduced(static_cast<size_t>(rank), axes.empty() && !noop);
  for (int64_t axis : axes) {
    if (axis < -rank || axis >= rank)
      return invalid_argument("axis {} is given, but there are {} dimensions", axis, rank);
    reduced[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
  }
  return reduced;
}

Shape reduced_shape(const Shape& shape, const std::vector<bool>& reduced, bool keep) {
  std::vector<Dim> dims;
  for (int d = 0; d < shape.rank(); ++d) {
    if (!reduced[static_cast<size_t>(d)])
      dims.push_back(shape[d]);
    else if (keep)
      dims.push_back(Dim(1));
  }
  return Shape(std::move(dims));
}

ReduceWalk::ReduceWalk(std::span<const int64_t> sizes, const std::vector<bool>& reduced)
    : sizes_(sizes.begin(), sizes.end()), index_(sizes.size(), 0), step_(sizes.size(), 0) {
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (reduced[d]) continue;
    step_[d] = stride;
    stride *= sizes[d];
  }
}

void ReduceWalk::next() {
  for (size_t d = sizes_.size(); d-- > 0;) {
    target_ += step_[d];
    if (++index_[d] < sizes_[d]) return;
    target_ -= step_[d] * sizes_[d];
    index_[d] = 0;
  }
}

namespace {

enum : size_t { kX, kAxes };
constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "axes", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"keepdims", AttrSpec::Kind::kBool, "true", "whether reduced dimensions stay, with size 1"},
    {"noop_with_empty_axes", AttrSpec::Kind::kBool, "false",
     "without axes nothing is reduced; otherwise everything is"}};

enum class Kind { kL1, kL2, kLogSum, kLogSumExp, kMax, kMean, kMin, kProd, kSum, kSumSquare };

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  const TensorType& x = rule.type(kX);
  if (!is_float(x.dtype) && !is_integer(x.dtype) && x.dtype != DType::boolean)
    return invalid_argument("{} should be numbers", rule.describe(kX));
  const bool keep = ctx.attrs.boolean("keepdims");
  const bool noop = ctx.attrs.boolean("noop_with_empty_axes");
  std::vector<int64_t> axes;
  if (rule.has(kAxes)) {
    NEREID_RETURN_IF_ERROR(rule.is_index(kAxes));
    if (rule.rank(kAxes) > 1) return invalid_argument("{} should have one dimension", rule.describe(kAxes));
    if (auto known = known_integers(ctx, kAxes)) {
      axes = *known;
    } else if (keep) {
      return std::vector<TensorType>{
          {x.dtype, Shape(std::vector<Dim>(static_cast<size_t>(rule.rank(kX)), Dim::unknown()))}};
    } else {
      return std::vector<TensorType>{{x.dtype, Shape::unranked()}};
    }
  }
  NEREID_TRY(const auto reduced, reduced_dimensions(axes, rule.rank(kX), noop).with(rule.describe(kX)));
  return std::vector<TensorType>{{x.dtype, reduced_shape(x.shape, reduced, keep)}};
}

// What an empty set gives.
template <typename T>
T start(Kind kind, DType dtype) {
  if (kind == Kind::kProd) return 1;
  if (kind != Kind::kMax && kind != Kind::kMin && kind != Kind::kLogSumExp) return 0;
  if constexpr (std::is_same_v<T, double>) {
    return kind == Kind::kMin ? HUGE_VAL : -HUGE_VAL;
  } else {
    if (dtype == DType::boolean) return kind == Kind::kMin;
    const int bits = dtype_info(dtype).block_bytes * 8 / dtype_info(dtype).block_elements;
    const bool has_sign = std::is_signed_v<T>;
    const T largest = static_cast<T>(~uint64_t{0} >> (64 - bits + has_sign));
    return kind == Kind::kMin ? largest : has_sign ? static_cast<T>(-largest - 1) : T(0);
  }
}

template <typename T>
T join(Kind kind, T sum, T v) {
  switch (kind) {
    case Kind::kL1:
      if constexpr (std::is_same_v<T, double>)
        return sum + std::fabs(v);
      else
        return wide_add(sum, v < T(0) ? static_cast<T>(T(0) - v) : v);
    case Kind::kL2:
    case Kind::kSumSquare:
      return wide_add(sum, wide_multiply(v, v));
    case Kind::kProd:
      return wide_multiply(sum, v);
    case Kind::kMax:
    case Kind::kLogSumExp:  // the first of its two passes
      return v > sum || v != v ? v : sum;
    case Kind::kMin:
      return v < sum || v != v ? v : sum;
    default:
      return wide_add(sum, v);
  }
}

template <typename T>
void log_sum_exp(const Elements<T>& x, ReduceWalk walk, Elements<T>& out) {
  Elements<double> sum(out.size());
  const auto largest = [&](int64_t i) {  // what keeps exponentials from overflowing
    const auto v = static_cast<double>(out[i]);
    return std::isfinite(v) ? v : 0.0;
  };
  for (int64_t i = 0; i < x.size(); ++i, walk.next())
    sum[walk.target()] += std::exp(static_cast<double>(x[i]) - largest(walk.target()));
  for (int64_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(std::log(sum[i]) + largest(i));
}

template <Kind K>
Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[kX];
  std::vector<int64_t> axes;
  if (ctx.inputs[kAxes].data != nullptr) {
    const Elements<int64_t> given = load<int64_t>(ctx.inputs[kAxes]);
    axes.assign(given.begin(), given.end());
  }
  NEREID_TRY(const auto reduced, reduced_dimensions(axes, x.rank(), ctx.attrs.boolean("noop_with_empty_axes")));
  return with_wide(x.dtype, [&]<typename T>() {
    const Elements<T> from = load<T>(x);
    Elements<T> out(ctx.outputs[0].elements(), start<T>(K, x.dtype));
    ReduceWalk walk(x.sizes, reduced);
    for (int64_t i = 0; i < from.size(); ++i, walk.next()) out[walk.target()] = join(K, out[walk.target()], from[i]);
    if constexpr (K == Kind::kL2) {
      for (T& v : out) v = static_cast<T>(std::sqrt(static_cast<double>(v)));
    } else if constexpr (K == Kind::kLogSum) {
      for (T& v : out) v = static_cast<T>(std::log(static_cast<double>(v)));
    } else if constexpr (K == Kind::kLogSumExp) {
      log_sum_exp(from, ReduceWalk(x.sizes, reduced), out);
    } else if constexpr (K == Kind::kMean) {
      if (out.size() == 0) return Status::ok();
      const int64_t count = from.size() / out.size();
      if (count == 0 && !std::is_same_v<T, double>) return invalid_argument("integers have no mean of nothing");
      for (T& v : out) v = static_cast<T>(v / static_cast<T>(count));
    }
    return store<T>(ctx.outputs[0], out);
  });
}

Cost cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost c = traffic(ctx, outputs);
  c.flops = elements_of(*ctx.inputs[kX]);
  return c;
}

template <Kind K>
constexpr OpDef reduction(std::string_view name, std::string_view summary) {
  return {.name = name,
          .summary = summary,
          .inputs = kInputs,
          .outputs = kOutputs,
          .attrs = kAttrs,
          .infer = infer,
          .evaluate = evaluate<K>,
          .cost = cost};
}

}  // namespace

extern constexpr OpDef kReduceL1 = reduction<Kind::kL1>("reduce_l1", "y = sum of |x| over the axes");
extern constexpr OpDef kReduceL2 = reduction<Kind::kL2>("reduce_l2", "y = square root of the sum of x^2 over the axes");
extern constexpr OpDef kReduceLogSum =
    reduction<Kind::kLogSum>("reduce_log_sum", "y = logarithm of the sum of x over the axes");
extern constexpr OpDef kReduceLogSumExp =
    reduction<Kind::kLogSumExp>("reduce_log_sum_exp", "y = logarithm of the sum of e^x over the axes");
extern constexpr OpDef kReduceMax = reduction<Kind::kMax>("reduce_max", "y = largest x over the axes");
extern constexpr OpDef kReduceMean = reduction<Kind::kMean>("reduce_mean", "y = mean of x over the axes");
extern constexpr OpDef kReduceMin = reduction<Kind::kMin>("reduce_min", "y = smallest x over the axes");
extern constexpr OpDef kReduceProd = reduction<Kind::kProd>("reduce_prod", "y = product of x over the axes");
extern constexpr OpDef kReduceSum = reduction<Kind::kSum>("reduce_sum", "y = sum of x over the axes");
extern constexpr OpDef kReduceSumSquare =
    reduction<Kind::kSumSquare>("reduce_sum_square", "y = sum of x^2 over the axes");

}  // namespace nereid::ops
