// SPDX-License-Identifier: Apache-2.0
// Support vector machines: svm_regressor (and one-class detection) and svm_classifier.
//
// The classifier votes one class against another for each pair of classes, as libsvm does; where probabilities are
// asked for they are coupled by Wu, Lin and Weng's second method (JMLR 2004).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/elements.h"
#include "ops/model_scores.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "coefficients"}, {.name = "support_vectors", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr ArgSpec kClassOutputs[] = {{.name = "class"}, {.name = "scores"}};
constexpr AttrSpec kKernelParams = {"kernel_params", AttrSpec::Kind::kFloats, "[]", "gamma, coef0 and degree"};
constexpr AttrSpec kKernelType = {"kernel_type", AttrSpec::Kind::kString, "LINEAR", "LINEAR, POLY, RBF or SIGMOID"};
constexpr AttrSpec kRho = {"rho", AttrSpec::Kind::kFloats, "[]", "offsets: one, or one a pair of classes"};
constexpr AttrSpec kAttrs[] = {
    kKernelParams,
    kKernelType,
    {"one_class", AttrSpec::Kind::kBool, "false", "whether the result is 1 for what belongs and -1 for what does not"},
    kPostTransformAttr,
    kRho};
constexpr AttrSpec kClassAttrs[] = {
    {"classes", AttrSpec::Kind::kInt, "", "how many"},
    kKernelParams,
    kKernelType,
    kPostTransformAttr,
    {"prob_a", AttrSpec::Kind::kFloats, "[]", "one a pair of classes; empty: scores are no probabilities"},
    {"prob_b", AttrSpec::Kind::kFloats, "[]", "one a pair of classes"},
    kRho,
    {"vectors_per_class", AttrSpec::Kind::kInts, "[]",
     "how many support vectors each class has; empty: a linear model"}};

enum class Kernel : uint8_t { kLinear, kPoly, kRbf, kSigmoid };

struct Machine {
  Kernel kernel = Kernel::kLinear;
  double gamma = 0, coef0 = 0, degree = 0;

  double operator()(const double* a, const double* b, int64_t n) const {
    double sum = 0;
    if (kernel == Kernel::kRbf) {
      for (int64_t i = 0; i < n; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
      return std::exp(-gamma * sum);
    }
    for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
    if (kernel == Kernel::kPoly) return std::pow(gamma * sum + coef0, degree);
    return kernel == Kernel::kSigmoid ? std::tanh(gamma * sum + coef0) : sum;
  }
};

Result<Machine> read_machine(const Attrs& attrs) {
  Machine m;
  const std::string& type = attrs.text("kernel_type");
  if (type == "POLY") {
    m.kernel = Kernel::kPoly;
  } else if (type == "RBF") {
    m.kernel = Kernel::kRbf;
  } else if (type == "SIGMOID") {
    m.kernel = Kernel::kSigmoid;
  } else if (type != "LINEAR") {
    return invalid_argument("kernel_type is '{}'; it should be LINEAR, POLY, RBF or SIGMOID", type);
  }
  const std::vector<double>& params = attrs.reals("kernel_params");
  if (!params.empty() && params.size() != 3)
    return invalid_argument("kernel_params has {} numbers and should have 3", params.size());
  if (params.empty() && m.kernel != Kernel::kLinear)
    return invalid_argument("kernel_params is missing, which the kernel {} needs", type);
  if (!params.empty()) {
    m.gamma = params[0];
    m.coef0 = params[1];
    m.degree = params[2];
  }
  return m;
}

// [vectors, features] support vectors of as many features as x has; or none.
Result<Dim> check(const ShapeRule& rule, const Attrs& attrs) {
  if (!is_float(rule.type(0).dtype) && !is_integer(rule.type(0).dtype)) return no_such_elements(rule.type(0).dtype);
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(0, 1));
  if (rule.rank(0) > 2) return invalid_argument("{} should have 1 or 2 dimensions", rule.describe(0));
  NEREID_RETURN_IF_ERROR(rule.has_rank(1, 2));
  if (rule.has(2)) {
    NEREID_RETURN_IF_ERROR(rule.has_rank(2, 2));
    NEREID_RETURN_IF_ERROR(rule.agree(0, -1, 2, 1));
    NEREID_RETURN_IF_ERROR(rule.agree(1, 1, 2, 0));
  } else {
    NEREID_RETURN_IF_ERROR(rule.agree(0, -1, 1, 1));
  }
  for (size_t i = 1; i < 3; ++i)
    if (rule.has(i) && !is_float(rule.type(i).dtype))
      return invalid_argument("{} should be of a float type", rule.describe(i));
  NEREID_RETURN_IF_ERROR(read_post_transform(attrs));
  NEREID_RETURN_IF_ERROR(read_machine(attrs));
  return rule.rank(0) == 2 ? rule.dim(0, 0) : Dim(1);
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_TRY(const Dim rows, check(rule, ctx.attrs));
  NEREID_RETURN_IF_ERROR(rule.has_size(1, 0, 1, "one regression"));
  if (ctx.attrs.reals("rho").size() != 1)
    return invalid_argument("rho has {} numbers and should have 1", ctx.attrs.reals("rho").size());
  return std::vector<TensorType>{{DType::f32, Shape({rows, Dim(1)})}};
}

// Columns of the classifier's scores.
int64_t columns_of(const Attrs& attrs) {
  const int64_t classes = attrs.integer("classes");
  if (attrs.integers("vectors_per_class").empty() || !attrs.reals("prob_a").empty() || classes == 2) return classes;
  return classes * (classes - 1) / 2;
}

Result<std::vector<TensorType>> infer_class(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_TRY(const Dim rows, check(rule, ctx.attrs));
  const int64_t classes = ctx.attrs.integer("classes");
  if (classes < 1 || classes > 1 << 20) return invalid_argument("there are {} classes", classes);
  const std::vector<int64_t>& vectors = ctx.attrs.integers("vectors_per_class");
  const size_t rho = ctx.attrs.reals("rho").size();
  if (vectors.empty()) {
    if (rule.has(2)) return invalid_argument("there are support vectors, but vectors_per_class is missing");
    if (rho < 1) return invalid_argument("rho is missing");
    NEREID_RETURN_IF_ERROR(rule.has_size(1, 0, classes, "one row a class"));
  } else {
    if (!rule.has(2)) return invalid_argument("the support vectors are missing");
    if (static_cast<int64_t>(vectors.size()) != classes || classes < 2)
      return invalid_argument("vectors_per_class has {} numbers for {} classes", vectors.size(), classes);
    int64_t sum = 0;
    for (int64_t v : vectors)
      if (v < 0 || __builtin_add_overflow(sum, v, &sum)) return invalid_argument("vectors_per_class holds {}", v);
    NEREID_RETURN_IF_ERROR(rule.has_size(2, 0, sum, "the sum of vectors_per_class"));
    NEREID_RETURN_IF_ERROR(rule.has_size(1, 0, classes - 1, "one row a class but one"));
    const size_t pairs = static_cast<size_t>(classes * (classes - 1) / 2);
    const size_t a = ctx.attrs.reals("prob_a").size(), b = ctx.attrs.reals("prob_b").size();
    if (rho != pairs || a != b || (a != 0 && a != pairs))
      return invalid_argument(
          "rho, prob_a and prob_b have {}, {} and {} numbers and should have {}, one a pair of classes", rho, a, b,
          pairs);
  }
  return std::vector<TensorType>{{DType::i64, Shape({rows})}, {DType::f32, Shape({rows, Dim(columns_of(ctx.attrs))})}};
}

DType dtype_of(const InferContext&, size_t) {
  return DType::f32;
}
DType class_dtype(const InferContext&, size_t output) {
  return output == 0 ? DType::i64 : DType::f32;
}

Status evaluate(const EvalContext& ctx) {
  NEREID_TRY(const Machine kernel, read_machine(ctx.attrs));
  NEREID_TRY(const PostTransform post, read_post_transform(ctx.attrs));
  const Elements<double> x = load<double>(ctx.inputs[0]), w = load<double>(ctx.inputs[1]);
  const bool has_vectors = ctx.inputs[2].data != nullptr;
  const Elements<double> vectors = has_vectors ? load<double>(ctx.inputs[2]) : Elements<double>();
  const int64_t features = ctx.inputs[0].sizes.back(), count = ctx.inputs[1].sizes[1];
  const double rho = ctx.attrs.reals("rho")[0];
  Elements<double> y(ctx.outputs[0].elements());
  for (int64_t r = 0; r < y.size(); ++r) {
    const double* row = x.data() + r * features;
    double sum = rho;
    if (has_vectors) {
      for (int64_t v = 0; v < count; ++v) sum += w[v] * kernel(row, vectors.data() + v * features, features);
    } else {
      sum += kernel(row, w.data(), features);
    }
    y[r] = ctx.attrs.boolean("one_class") ? (sum > 0 ? 1 : -1) : sum;
    if (post == PostTransform::kProbit) transform_scores(post, {&y[r], 1});
  }
  return store<double>(ctx.outputs[0], y);
}

// Probabilities of n classes that agree best with those of each pair: r[i * n + j] that i wins over j.
std::vector<double> couple(const std::vector<double>& r, size_t n) {
  std::vector<double> p(n, 1.0 / static_cast<double>(n)), q(n * n), qp(n);
  for (size_t t = 0; t < n; ++t)
    for (size_t j = 0; j < n; ++j) {
      if (j == t) continue;
      q[t * n + t] += r[j * n + t] * r[j * n + t];
      q[t * n + j] = -r[j * n + t] * r[t * n + j];
    }
  const double tolerance = 0.005 / static_cast<double>(n);
  for (size_t step = 0; step < std::max<size_t>(100, n); ++step) {
    double pqp = 0, worst = 0;
    for (size_t t = 0; t < n; ++t) {
      qp[t] = 0;
      for (size_t j = 0; j < n; ++j) qp[t] += q[t * n + j] * p[j];
      pqp += p[t] * qp[t];
    }
    for (double v : qp) worst = std::max(worst, std::abs(v - pqp));
    if (worst < tolerance) break;
    for (size_t t = 0; t < n; ++t) {
      if (q[t * n + t] == 0) continue;
      const double d = (pqp - qp[t]) / q[t * n + t];
      p[t] += d;
      pqp = (pqp + d * (d * q[t * n + t] + 2 * qp[t])) / ((1 + d) * (1 + d));
      for (size_t j = 0; j < n; ++j) {
        qp[j] = (qp[j] + d * q[t * n + j]) / (1 + d);
        p[j] /= 1 + d;
      }
    }
  }
  return p;
}

struct Verdict {
  int64_t winner = 0;
  std::vector<double> scores;
};

// One class against another for every pair.
Verdict judge_pairs(const EvalContext& ctx, const std::vector<double>& kernels, const Elements<double>& w) {
  const std::vector<int64_t>& per_class = ctx.attrs.integers("vectors_per_class");
  const std::vector<double>&rho = ctx.attrs.reals("rho"), &a = ctx.attrs.reals("prob_a"),
        &b = ctx.attrs.reals("prob_b");
  const size_t n = per_class.size();
  const int64_t count = static_cast<int64_t>(kernels.size());
  std::vector<int64_t> start(n, 0);
  for (size_t i = 1; i < n; ++i) start[i] = start[i - 1] + per_class[i - 1];
  Verdict verdict;
  std::vector<double> votes(n, 0), wins(n * n, 0);
  size_t pair = 0;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = i + 1; j < n; ++j, ++pair) {
      double sum = rho[pair];
      for (int64_t v = start[i]; v < start[i] + per_class[i]; ++v)
        sum += w[static_cast<int64_t>(j - 1) * count + v] * kernels[static_cast<size_t>(v)];
      for (int64_t v = start[j]; v < start[j] + per_class[j]; ++v)
        sum += w[static_cast<int64_t>(i) * count + v] * kernels[static_cast<size_t>(v)];
      verdict.scores.push_back(sum);
      votes[sum > 0 ? i : j] += 1;
      if (a.empty()) continue;
      const double p = std::clamp(1 - 1 / (1 + std::exp(-(sum * a[pair] + b[pair]))), 1e-7, 1 - 1e-7);
      wins[i * n + j] = p;
      wins[j * n + i] = 1 - p;
    }
  if (!a.empty()) verdict.scores = couple(wins, n);
  verdict.winner = first_largest(votes);
  return verdict;
}

Status evaluate_class(const EvalContext& ctx) {
  NEREID_TRY(const Machine kernel, read_machine(ctx.attrs));
  NEREID_TRY(const PostTransform post, read_post_transform(ctx.attrs));
  const Elements<double> x = load<double>(ctx.inputs[0]), w = load<double>(ctx.inputs[1]);
  const int64_t features = ctx.inputs[0].sizes.back(), rows = ctx.outputs[0].sizes[0];
  const int64_t classes = ctx.attrs.integer("classes"), columns = ctx.outputs[1].sizes[1];
  const bool linear = ctx.attrs.integers("vectors_per_class").empty();
  const Elements<double> vectors = linear ? Elements<double>() : load<double>(ctx.inputs[2]);
  Elements<int64_t> winners(rows);
  Elements<double> results(rows * columns);
  for (int64_t r = 0; r < rows; ++r) {
    const double* row = x.data() + r * features;
    Verdict verdict;
    if (linear) {
      for (int64_t c = 0; c < classes; ++c) {
        double sum = ctx.attrs.reals("rho")[0];
        for (int64_t f = 0; f < features; ++f) sum += row[f] * w[c * features + f];
        verdict.scores.push_back(sum);
      }
      verdict.winner = first_largest(verdict.scores);
    } else {
      std::vector<double> kernels;
      for (int64_t v = 0; v < ctx.inputs[2].sizes[0]; ++v)
        kernels.push_back(kernel(row, vectors.data() + v * features, features));
      verdict = judge_pairs(ctx, kernels, w);
    }
    winners[r] = verdict.winner;
    if (verdict.scores.size() == 1 && columns == 2) {
      verdict.scores = both_classes(post, verdict.scores[0], false);
    } else {
      transform_scores(post, verdict.scores);
    }
    std::ranges::copy(verdict.scores, results.data() + r * columns);
  }
  NEREID_RETURN_IF_ERROR(store<int64_t>(ctx.outputs[0], winners));
  return store<double>(ctx.outputs[1], results);
}

}  // namespace

extern constexpr OpDef kSvmClassifier = {
    .name = "svm_classifier",
    .summary = "class = the one with most wins over the others by coefficients . kernel(x, support vectors) + rho",
    .inputs = kInputs,
    .outputs = kClassOutputs,
    .attrs = kClassAttrs,
    .infer = infer_class,
    .evaluate = evaluate_class,
    .cost = cost_per_element<2>,
    .dtype_of = class_dtype};
extern constexpr OpDef kSvmRegressor = {.name = "svm_regressor",
                                        .summary = "y = coefficients . kernel(x, support vectors) + rho",
                                        .inputs = kInputs,
                                        .outputs = kOutputs,
                                        .attrs = kAttrs,
                                        .infer = infer,
                                        .evaluate = evaluate,
                                        .cost = cost_per_element<2>,
                                        .dtype_of = dtype_of};

}  // namespace nereid::ops
