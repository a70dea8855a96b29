// SPDX-License-Identifier: Apache-2.0
#include "runtime/net/context.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "graph/evaluate.h"
#include "graph/text.h"
#include "ops/elements.h"

namespace nereid::runtime {
namespace {

using Values = std::map<std::string, ops::Datum, std::less<>>;

ops::Tensor numbers(std::vector<int64_t> sizes, unsigned seed = 1) {
  ops::Tensor t = ops::Tensor::zeros(DType::f32, std::move(sizes)).value();
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  auto* first = reinterpret_cast<float*>(t.bytes.data());
  for (size_t i = 0; i < t.bytes.size() / 4; ++i) first[i] = normal(random);
  return t;
}
ops::Tensor integers(const std::vector<int64_t>& values) {
  ops::Tensor t = ops::Tensor::zeros(DType::i64, {static_cast<int64_t>(values.size())}).value();
  (void)ops::store<int64_t>(t.view(), std::span<const int64_t>(values));
  return t;
}
ops::Tensor truth(bool value) {
  ops::Tensor t = ops::Tensor::zeros(DType::boolean, {}).value();
  t.bytes[0] = static_cast<std::byte>(value);
  return t;
}

// A network from text, and the same graph for the reference interpreter.
class Runner {
 public:
  explicit Runner(std::string_view text, int threads = 2)
      : network_(Network::create(parsed(text), nullptr, best_isa(read_cpu_info()).value())),
        pool_({.threads = threads}),
        context_(NetContext::create(network_, pool_)) {}

  // Both ways; results must agree. The status of the network's run.
  Status run(const Values& inputs) {
    const graph::Graph& g = network_->graph();
    for (size_t i = 0; i < g.inputs().size(); ++i)
      NEREID_RETURN_IF_ERROR(context_->set_input(i, inputs.at(g.value(g.inputs()[i]).name)));
    NEREID_RETURN_IF_ERROR(context_->run());
    const auto expected = graph::evaluate_any(g, inputs);
    EXPECT_TRUE(expected.is_ok()) << expected.status().message();
    for (size_t i = 0; expected.is_ok() && i < expected->size(); ++i) same((*expected)[i], context_->output_value(i));
    return Status::ok();
  }
  NetContext& context() { return *context_; }

 private:
  static graph::Graph parsed(std::string_view text) {
    Result<graph::Graph> graph = graph::parse(text);
    EXPECT_TRUE(graph.is_ok()) << graph.status().message();
    return graph.is_ok() ? std::move(graph).value() : graph::Graph();
  }
  static void same(const ops::Datum& a, const ops::Datum& b) {
    ASSERT_EQ(ops::type_of(a).to_string(), ops::type_of(b).to_string());
    if (!a.is_tensor()) return;
    const ops::Elements<double> x = ops::load<double>(a.view()), y = ops::load<double>(b.view());
    double largest = 1e-30;
    for (double v : x) largest = std::max(largest, std::abs(v));
    for (int64_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], 1e-5 * largest) << "element " << i;
  }
  std::shared_ptr<const Network> network_;
  ThreadPool pool_;
  std::unique_ptr<NetContext> context_;
};

TEST(NetContext, sizes_may_change_from_run_to_run) {
  Runner r(R"(graph main {
    input %x: f32[n, 4]
    const %w: f32[4, 2] = [1, 2, 3, 4, 5, 6, 7, 8]
    %y: f32[n, 2] = dense(%x, %w) {activation="relu"}
    output %y
  })");
  for (int64_t n : {3, 1, 7, 3}) EXPECT_TRUE(r.run({{"x", numbers({n, 4})}}).is_ok()) << n;
}

TEST(NetContext, arithmetic_on_shapes_is_done_when_the_plan_is_made) {
  Runner r(R"(graph main {
    input %x: f32[n, 6]
    const %rest: i64[2] = [3, 2]
    %s = shape(%x) {end=1}
    %t = concat(%s, %rest) {axis=0}
    %y = reshape_to(%x, %t)
    output %y
  })");
  EXPECT_TRUE(r.run({{"x", numbers({5, 6})}}).is_ok());
  EXPECT_TRUE(r.context().notes().empty());
}

TEST(NetContext, parts_of_a_concatenation_are_made_in_their_places) {
  Runner r(R"(graph main {
    input %x: f32[1, h, w, 4]
    const %w: f32[4, 4, 1, 1] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
    const %d: f32[4, 2] = [1, 2, 3, 4, 5, 6, 7, 8]
    const %scales: f32[4] = [1, 2, 2, 1]
    %conv: f32[1, h, w, 4] = conv_last(%x, %w) {activation="relu"}
    %dense: f32[1, h, w, 2] = dense(%x, %d)
    %pool: f32[1, h, w, 4] = pool_last(%x) {kernel_shape=[3, 3], pads=[1, 1, 1, 1], kind="max"}
    %sum: f32[1, h, w, 4] = program(%x, %conv) {steps=["add 0 1"]}
    %read_twice: f32[1, h, w, 4] = program(%x) {steps=["exp 0"]}
    %joined: f32[1, h, w, "?"] = concat(%pool, %dense, %x, %read_twice, %sum) {axis=3}
    %more: f32[1, h, w, "?"] = relu(%joined)
    %again: f32[1, h, w, 4] = program(%read_twice) {steps=["neg 0"]}
    %last: f32[1, h, w, 4] = conv_last(%again, %w)
    %rows: f32[1, "?", w, 4] = concat(%last, %read_twice) {axis=1}
    %end: f32[1, "?", w, 4] = relu(%rows)
    output %more, %end
  })");
  for (int64_t h : {3, 5, 1}) EXPECT_TRUE(r.run({{"x", numbers({1, h, 7, 4})}}).is_ok()) << h;
  EXPECT_TRUE(r.context().notes().empty());
}

TEST(NetContext, a_value_that_is_two_parts_and_a_concatenation_that_is_one_are_copied) {
  Runner r(R"(graph main {
    input %x: f32[n, 2]
    %a: f32[n, 2] = program(%x) {steps=["exp 0"]}
    %twice: f32[n, 4] = concat(%a, %a) {axis=1}
    %b: f32[n, 2] = program(%x) {steps=["neg 0"]}
    %c: f32[n, 2] = program(%x) {steps=["abs 0"]}
    %rows: f32["?", 2] = concat(%b, %c) {axis=0}
    %d: f32[n, 2] = program(%x) {steps=["sqrt 0"]}
    %more: f32["?", 2] = concat(%d, %rows, %x) {axis=0}
    %y: f32["?", 2] = program(%more) {steps=["neg 0"]}
    %z: f32[n, 4] = program(%twice) {steps=["neg 0"]}
    output %y, %z
  })");
  ops::Tensor x = numbers({3, 2});
  for (size_t i = 0; i < 6; ++i) reinterpret_cast<float*>(x.bytes.data())[i] = static_cast<float>(i) + 0.5f;
  EXPECT_TRUE(r.run({{"x", x}}).is_ok());
}

TEST(NetContext, a_sum_takes_the_place_of_its_last_operand_only_where_nobody_else_reads_that) {
  Runner r(R"(graph main {
    input %x: f32[n, 2]
    const %w: f32[2, 2] = [1, 2, 3, 4]
    %a: f32[n, 2] = relu(%x)
    %b: f32[n, 2] = dense(%x, %w, _, %a)
    %c: f32[n, 2] = dense(%b, %w, _, %b)
    %d: f32[n, 2] = dense(%a, %w, _, %c) {activation="tanh", residual_last=true, scale=0.5, shift=0.25}
    %y: f32[n, 2] = dense(%d, %w, _, %a)
    output %y
  })");
  for (int64_t n : {1, 40}) EXPECT_TRUE(r.run({{"x", numbers({n, 2})}}).is_ok()) << n;
}

TEST(NetContext, comparisons_selections_and_whole_numbers_have_kernels) {
  Runner r(R"(graph main {
    input %x: f32[n, 1, 3]
    input %i: i64[4, 1]
    const %two: i64[] = [2]
    const %low: i64[] = [-1]
    const %high: i64[] = [1]
    const %limit: f32[3] = [0.0, 0.5, -0.5]
    %big: bool[n, 1, 3] = greater(%x, %limit)
    %e: bool[4, 1] = equal(%i, %two)
    %both: bool["?", 4, 3] = and(%big, %e)
    %none: bool["?", 4, 3] = not(%both)
    %j: i64[4, 1] = mul(%i, %two)
    %k: i64[4, 1] = sub(%j, %i)
    %c: i64[4, 1] = clip(%k, %low, %high)
    %chosen: f32["?", 4, 3] = where(%none, %x, %limit)
    output %none, %c, %chosen
  })");
  ops::Tensor i = integers({-3, 2, 0, 5});
  i.sizes = {4, 1};
  EXPECT_TRUE(r.run({{"x", numbers({2, 1, 3})}, {"i", i}}).is_ok());
  EXPECT_TRUE(r.context().notes().empty());
}

TEST(NetContext, a_size_that_hangs_on_a_given_value_follows_it) {
  Runner r(R"(graph main {
    input %x: f32[4]
    input %to: i64[1]
    %y = expand(%x, %to)
    %z = relu(%y)
    output %z
  })");
  for (int64_t n : {4, 1, 4}) EXPECT_TRUE(r.run({{"x", numbers({4})}, {"to", integers({n})}}).is_ok()) << n;
}

TEST(NetContext, a_size_that_hangs_on_a_computed_value_begins_a_new_plan) {
  Runner r(R"(graph main {
    input %x: f32[4, 1]
    input %n: i64[1]
    %twice = add(%n, %n)
    %to = concat(%n, %twice) {axis=0}
    %y = expand(%x, %to)
    %z = relu(%y)
    output %z, %twice
  })");
  for (int64_t n : {4, 1}) EXPECT_TRUE(r.run({{"x", numbers({4, 1})}, {"n", integers({n})}}).is_ok()) << n;
}

TEST(NetContext, what_only_a_run_can_size_is_followed_by_kernels_again) {
  Runner r(R"(graph main {
    input %x: f32[n]
    %positive = relu(%x)
    %places = nonzero(%positive)
    %rows = cast(%places) {dtype="f32"}
    %y = exp(%rows)
    output %y
  })");
  EXPECT_TRUE(r.run({{"x", numbers({9}, 1)}}).is_ok());
  EXPECT_TRUE(r.run({{"x", numbers({9}, 2)}}).is_ok());
}

TEST(NetContext, the_branch_that_the_condition_chooses_runs) {
  Runner r(R"(graph main {
    input %c: bool[]
    input %x: f32[n, 2]
    %y: f32[n, 2] = if(%c, %x) {captures=1}
      graph then {
        input %x: f32[n, 2]
        %t: f32[n, 2] = relu(%x)
        output %t
      }
      graph else {
        input %x: f32[n, 2]
        %e: f32[n, 2] = neg(%x)
        output %e
      }
    %z: f32[n, 2] = exp(%y)
    output %z
  })");
  for (bool chosen : {true, false, true})
    EXPECT_TRUE(r.run({{"c", truth(chosen)}, {"x", numbers({3, 2})}}).is_ok()) << chosen;
}

TEST(NetContext, a_loop_runs_its_body_with_plans_of_its_own) {
  Runner r(R"(graph main {
    input %trips: i64[]
    input %x: f32[2]
    %y, %all = loop(%trips, _, %x) {captures=0}
      graph body {
        input %i: i64[]
        input %go: bool[]
        input %v: f32[2]
        %next: f32[2] = add(%v, %v)
        output %go, %next, %next
      }
    output %y, %all
  })");
  ops::Tensor trips = integers({3});
  trips.sizes.clear();
  EXPECT_TRUE(r.run({{"trips", trips}, {"x", numbers({2})}}).is_ok());
}

TEST(NetContext, results_are_the_same_bits_whatever_the_number_of_threads) {
  constexpr std::string_view kText = R"(graph main {
    input %x: f32[n, 64]
    %y: f32[n, 64] = layer_normalization(%x, %s)
    %z: f32[n, 64] = softmax(%y)
    output %z
  })";
  std::string text(kText);
  std::string ones;
  for (int i = 0; i < 64; ++i) ones += i > 0 ? ", 1" : "1";
  text.insert(text.find("    %y"), "    const %s: f32[64] = [" + ones + "]\n");
  const ops::Tensor x = numbers({33, 64});
  std::vector<std::byte> bits[2];
  for (int threads : {1, 2}) {
    Runner r(text, threads);
    EXPECT_TRUE(r.run({{"x", x}}).is_ok());
    bits[threads - 1] = r.context().output_value(0).tensor.bytes;
  }
  EXPECT_EQ(bits[0], bits[1]);
}

TEST(NetContext, a_wrong_input_is_a_sentence) {
  Runner r("graph main {\n input %x: f32[n, 4]\n %y: f32[n, 4] = relu(%x)\n output %y\n}\n");
  EXPECT_EQ(r.run({{"x", numbers({3, 5})}}).message(), "input 'x' is f32[n, 4], but the value given is f32[3, 5]");
  EXPECT_EQ(r.run({{"x", integers({3})}}).message(), "input 'x' is f32[n, 4], but the value given is i64[1]");
}

TEST(NetContext, an_index_outside_is_a_sentence_and_the_next_run_is_well) {
  Runner r(R"(graph main {
    input %x: f32[5, 3]
    input %i: i64[n]
    %y: f32[n, 3] = gather(%x, %i)
    output %y
  })");
  const ops::Tensor x = numbers({5, 3});
  EXPECT_NE(r.run({{"x", x}, {"i", integers({1, 9})}}).message().find("the index 9 is outside a dimension of 5"),
            std::string::npos);
  EXPECT_TRUE(r.run({{"x", x}, {"i", integers({1, -1})}}).is_ok());
}

}  // namespace
}  // namespace nereid::runtime
