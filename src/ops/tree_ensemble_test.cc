// SPDX-License-Identifier: Apache-2.0
// Decision trees, linear models and support vector machines; the scores of classifiers are onnxruntime's.
#include <cmath>

#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Reals = std::vector<double>;

Tensor i64(const std::vector<double>& values) {
  return Tensor::of(DType::i64, {static_cast<int64_t>(values.size())}, values);
}
Tensor list(const std::vector<double>& values) {
  return f32({static_cast<int64_t>(values.size())}, values);
}
Attrs with(const char* post, int64_t targets) {
  return {{"post_transform", std::string(post)}, {"n_targets", targets}};
}

// One tree: x <= 0.5 ? leaf 0 : x <= 1.5 ? leaf 1 : leaf 2.
struct Tree {
  std::vector<double> modes = {0, 0}, true_next = {-1, -2}, false_next = {1, -3}, targets = {0, 0, 0};
  std::vector<double> weights = {.2, .5, .9}, features = {0, 0}, roots = {0}, base = {}, missing = {0, 0};
  std::vector<double> starts = {0, 1, 2, 3};

  std::vector<Tensor> inputs(const std::vector<double>& x = {0, 1, 2}) const {
    return {f32({static_cast<int64_t>(x.size()), 1}, x),
            i64(roots),
            i64(modes),
            i64(features),
            list({.5, 1.5}),
            i64(true_next),
            i64(false_next),
            i64(missing),
            i64(starts),
            i64(targets),
            list(weights),
            base.empty() ? absent() : list(base)};
  }
};

TEST(TreeEnsemble, gives_what_the_leaf_says) {
  EXPECT_THAT(numbers_of("tree_ensemble", Tree().inputs({0, 1, 2, .5, 1.5}), with("NONE", 1)),
              near({.2, .5, .9, .2, .5}));
}

TEST(TreeEnsemble, compares_in_every_way) {
  Tree t;
  const std::vector<std::pair<double, Reals>> by_mode = {{0, {1, 1, 0}}, {1, {1, 0, 0}}, {2, {0, 1, 1}},
                                                         {3, {0, 0, 1}}, {4, {0, 1, 0}}, {5, {1, 0, 1}}};
  t.true_next = {-1, -2};
  t.false_next = {-2, -3};
  t.weights = {1, 0, 0};
  for (const auto& [mode, holds] : by_mode) {
    t.modes = {mode, 0};
    EXPECT_EQ(numbers_of("tree_ensemble", t.inputs({0, .5, 1}), with("NONE", 1)), holds) << mode;
  }
}

TEST(TreeEnsemble, sends_what_is_missing_where_the_node_says) {
  Tree t;
  const std::vector<double> nothing = {std::nan("")};
  EXPECT_THAT(numbers_of("tree_ensemble", t.inputs(nothing), with("NONE", 1)), near({.9}));
  t.missing = {1, 0};
  EXPECT_THAT(numbers_of("tree_ensemble", t.inputs(nothing), with("NONE", 1)), near({.2}));
}

TEST(TreeEnsemble, aggregates_trees) {
  Tree t;
  t.roots = {0, 1};  // the second tree is the first's second node
  t.base = {.25};
  Attrs attrs = with("NONE", 1);
  EXPECT_THAT(numbers_of("tree_ensemble", t.inputs({0}), attrs), near({.95}));
  for (const auto& [how, y] : {std::pair("AVERAGE", .6), std::pair("MIN", .45), std::pair("MAX", .75)}) {
    attrs.set("aggregate_function", std::string(how));
    EXPECT_THAT(numbers_of("tree_ensemble", t.inputs({0}), attrs), near({y})) << how;
  }
}

TEST(TreeEnsemble, knows_sets_of_members) {
  Tree t;
  t.modes = {6, 6};
  std::vector<Tensor> inputs = t.inputs({3, 4, 5});
  inputs.push_back(i64({0, 1, 3}));
  inputs.push_back(list({3, 4, 7}));
  EXPECT_THAT(numbers_of("tree_ensemble", inputs, with("NONE", 1)), near({.2, .5, .9}));
}

TEST(TreeEnsemble, refuses_trees_that_are_none) {
  const auto says = [](const Tree& t) { return refusal("tree_ensemble", t.inputs(), with("NONE", 1)); };
  Tree t;
  t.false_next = {0, -3};
  EXPECT_THAT(says(t), HasSubstr("should lead to later nodes"));
  t = {};
  t.true_next = {-9, -2};
  EXPECT_THAT(says(t), HasSubstr("one of 3 leaves"));
  t = {};
  t.features = {0, 1};
  EXPECT_THAT(says(t), HasSubstr("asks for feature 1, but x has 1"));
  t = {};
  t.modes = {0, 7};
  EXPECT_THAT(says(t), HasSubstr("has mode 7"));
  t = {};
  t.roots = {2};
  EXPECT_THAT(says(t), HasSubstr("a root is 2"));
  t = {};
  t.targets = {0, 1, 0};
  EXPECT_THAT(says(t), HasSubstr("votes for 1"));
  t = {};
  t.starts = {0, 2, 1, 3};
  EXPECT_THAT(says(t), HasSubstr("leaf_starts"));
  t = {};
  t.modes = {6, 0};
  EXPECT_THAT(says(t), HasSubstr("member_starts"));
  EXPECT_THAT(refusal("tree_ensemble", Tree().inputs(), with("MAYBE", 1)), HasSubstr("post_transform is 'MAYBE'"));
}

struct Scored {
  std::vector<double> classes, scores;
};
Scored classify(const char* op, std::vector<Tensor> inputs, Attrs attrs) {
  auto results = run_op(op, std::move(inputs), std::move(attrs));
  return {results[0].numbers(), results.size() > 1 ? results[1].numbers() : Reals()};
}

TEST(TreeClassifier, reads_one_class_as_the_other_ones_score) {
  Tree t;
  auto r = classify("tree_classifier", t.inputs(), with("NONE", 2));
  EXPECT_THAT(r.classes, ElementsAre(0, 0, 1));
  EXPECT_THAT(r.scores, near({.8, .2, .5, .5, .1, .9}));
  r = classify("tree_classifier", t.inputs(), with("LOGISTIC", 2));
  EXPECT_THAT(r.scores, near({.4501660, .5498340, .3775406, .6224594, .2890505, .7109495}, 1e-6));
  t.weights = {-.2, .5, .9};
  r = classify("tree_classifier", t.inputs(), with("NONE", 2));
  EXPECT_THAT(r.classes, ElementsAre(0, 1, 1));
  EXPECT_THAT(r.scores, near({.2, -.2, -.5, .5, -.9, .9}));
}

TEST(TreeClassifier, takes_the_class_with_most_votes) {
  Tree t;
  t.targets = {0, 1, 2};
  t.weights = {.2, .5, -.9};
  auto r = classify("tree_classifier", t.inputs(), with("SOFTMAX", 3));
  EXPECT_THAT(r.classes, ElementsAre(0, 1, 2));
  EXPECT_THAT(std::vector(r.scores.begin(), r.scores.begin() + 3), near({.3791524, .3104238, .3104238}, 1e-6));
  r = classify("tree_classifier", t.inputs(), with("SOFTMAX_ZERO", 3));
  EXPECT_THAT(r.scores, near({1, 0, 0, 0, 1, 0, 0, 0, 1}));
  r = classify("tree_classifier", t.inputs({0}), with("PROBIT", 3));
  EXPECT_NEAR(r.scores[0], -.8417561, 1e-5);
}

TEST(LinearModels, score_rows) {
  const Tensor x = f32({2, 2}, {1, 2, -3, .5});
  EXPECT_THAT(numbers_of("linear_regressor", {x, f32({1, 2}, {.1, .2}), list({.05})}), near({.55, -.15}));
  EXPECT_THAT(numbers_of("linear_regressor", {x, f32({2, 2}, {.1, .2, .3, -.1}), list({.05, .1})},
                         {{"post_transform", std::string("SOFTMAX")}}),
              near({.5866176, .4133824, .6681878, .3318122}, 1e-6));
  auto r = classify("linear_classifier", {x, f32({1, 2}, {.1, .2}), list({.05})},
                    {{"classes", int64_t{2}}, {"post_transform", std::string("LOGISTIC")}});
  EXPECT_THAT(r.classes, ElementsAre(1, 0));
  EXPECT_THAT(r.scores, near({.3658644, .6341356, .5374298, .4625702}, 1e-6));
  r = classify("linear_classifier", {x, f32({3, 2}, {.1, .2, -.1, -.2, .3, .1}), list({.05, -.05, .1})},
               {{"classes", int64_t{3}}});
  EXPECT_THAT(r.classes, ElementsAre(2, 1));
  EXPECT_THAT(r.scores, near({.55, -.55, .6, -.15, .15, -.75}));
}

TEST(LinearModels, refuse_tables_that_do_not_fit) {
  const Tensor x = f32({1, 2}, {1, 2});
  EXPECT_THAT(refusal("linear_regressor", {x, f32({1, 3}, {1, 2, 3})}), HasSubstr("dimension 1 of x"));
  EXPECT_THAT(refusal("linear_regressor", {x, f32({1, 2}, {1, 2}), list({1, 2})}), HasSubstr("intercepts"));
  EXPECT_THAT(refusal("linear_classifier", {x, f32({1, 2}, {1, 2})}, {{"classes", int64_t{3}}}),
              HasSubstr("3 classes"));
}

TEST(Svm, sums_kernels) {
  const Tensor x = f32({1, 2}, {1, 2}), vectors = f32({2, 2}, {1, 0, 0, 1}), w = f32({1, 2}, {.5, -1});
  const auto y = [&](const char* kernel, Reals params) {
    return numbers_of(
        "svm_regressor", {x, w, vectors},
        {{"kernel_type", std::string(kernel)}, {"kernel_params", std::move(params)}, {"rho", Reals{.25}}})[0];
  };
  EXPECT_NEAR(y("LINEAR", {}), .5 - 2 + .25, 1e-6);
  EXPECT_NEAR(y("POLY", {.5, 1, 2}), .5 * 2.25 - 4 + .25, 1e-6);
  EXPECT_NEAR(y("RBF", {.5, 0, 0}), .5 * std::exp(-2.0) - std::exp(-1.0) + .25, 1e-6);
  EXPECT_NEAR(y("SIGMOID", {.5, 1, 0}), .5 * std::tanh(1.5) - std::tanh(2.0) + .25, 1e-6);
}

TEST(Svm, lets_pairs_of_classes_vote) {
  const Tensor x = f32({2, 1}, {1, -1}), vectors = f32({2, 1}, {1, -1}), w = f32({1, 2}, {1, -1});
  Attrs attrs = {{"classes", int64_t{2}}, {"rho", Reals{.5}}, {"vectors_per_class", std::vector<int64_t>{1, 1}}};
  auto r = classify("svm_classifier", {x, w, vectors}, attrs);
  EXPECT_THAT(r.classes, ElementsAre(0, 1));
  EXPECT_THAT(r.scores, near({-2.5, 2.5, 1.5, -1.5}));
  attrs.set("prob_a", Reals{-1});
  attrs.set("prob_b", Reals{0});
  r = classify("svm_classifier", {x, w, vectors}, attrs);
  EXPECT_NEAR(r.scores[0] + r.scores[1], 1, 1e-6);
  EXPECT_GT(r.scores[0], r.scores[1]);
}

TEST(Svm, refuses_what_does_not_fit) {
  const Tensor x = f32({1, 1}, {1}), vectors = f32({2, 1}, {1, -1}), w = f32({1, 2}, {1, -1});
  const auto says = [&](Attrs attrs) {
    attrs.set("classes", int64_t{2});
    return refusal("svm_classifier", {x, w, vectors}, std::move(attrs));
  };
  const std::vector<int64_t> both = {1, 1};
  EXPECT_THAT(says({{"rho", Reals{1}}, {"vectors_per_class", std::vector<int64_t>{1, 2}}}),
              HasSubstr("the sum of vectors_per_class"));
  EXPECT_THAT(says({{"vectors_per_class", both}}), HasSubstr("rho, prob_a and prob_b have 0"));
  EXPECT_THAT(says({{"rho", Reals{1}}, {"vectors_per_class", std::vector<int64_t>{-1, 3}}}), HasSubstr("holds -1"));
  EXPECT_THAT(says({{"rho", Reals{1}}, {"vectors_per_class", both}, {"kernel_type", std::string("RBF")}}),
              HasSubstr("kernel_params is missing"));
  EXPECT_THAT(refusal("svm_regressor", {x, f32({1, 1}, {1})}), HasSubstr("rho has 0 numbers"));
}

}  // namespace
}  // namespace nereid::ops
