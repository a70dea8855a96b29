// SPDX-License-Identifier: Apache-2.0
// Graphs without a cache (attention_packed, layer_norm, products in f32) against the reference interpreter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/test_program.h"

namespace nereid::runtime {
namespace {

using testing::isas_here;
using ::testing::IsEmpty;
using testing::TestGraph;

// Queries, keys and values of 2 x `width` made of one input; `attrs` and `bias` are attention_packed's.
struct Case {
  int64_t heads, kv_heads, head_dim;
  std::string attrs;
  int64_t distances = 0;
};

std::string text_of(const Case& c) {
  const int64_t q = c.heads * c.head_dim, kv = c.kv_heads * c.head_dim;
  const std::string bias = c.distances > 0 ? ", %bias" : "";
  std::string text = "graph main {\n  input %x: f32[tokens, 24]\n  input %starts: i32[boundaries]\n";
  text += fmt::format("  const %wq: f32[{0}, 24]\n  const %bq: f32[{0}]\n", q);
  text += fmt::format("  const %wk: f32[{0}, 24]\n  const %bk: f32[{0}]\n", kv);
  text += fmt::format("  const %wv: f32[{0}, 24]\n  const %bv: f32[{0}]\n", kv);
  text += fmt::format(
      "  const %wo: f32[24, {}]\n  const %up: f32[50, 24]\n  const %norm: f32[24]\n  const %shift: f32[24]\n", q);
  if (c.distances > 0) text += fmt::format("  const %bias: f32[{}, {}]\n", c.heads, c.distances);
  text += fmt::format("  %q: f32[tokens, {}] = linear(%x, %wq, %bq)\n", q);
  text += fmt::format("  %k: f32[tokens, {}] = linear(%x, %wk, %bk)\n", kv);
  text += fmt::format("  %v: f32[tokens, {}] = linear(%x, %wv, %bv)\n", kv);
  text += fmt::format(
      "  %a: f32[tokens, {}] = attention_packed(%q, %k, %v, %starts{}) {{heads={}, kv_heads={}, head_dim={}, "
      "scale=0.6{}}}\n",
      q, bias, c.heads, c.kv_heads, c.head_dim, c.attrs);
  text += "  %o: f32[tokens, 24] = linear(%a, %wo)\n  %s: f32[tokens, 24] = add(%x, %o)\n";
  text += "  %n: f32[tokens, 24] = layer_norm(%s, %norm, %shift) {eps=1e-12}\n";
  text += "  %y: f32[tokens, 50] = linear(%n, %up) {activation=gelu}\n  output %y\n}\n";
  return text;
}

std::vector<float> input_of(int64_t rows) {
  std::vector<float> x(static_cast<size_t>(rows) * 24);
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (float& v : x) v = normal(random);
  return x;
}

std::vector<double> reference(const TestGraph& g, const std::vector<float>& x, const std::vector<int32_t>& starts) {
  graph::Bindings bindings;
  bindings.inputs["x"] = ConstTensorView(x.data(), DType::f32, {starts.back(), 24});
  bindings.inputs["starts"] = ConstTensorView(starts.data(), DType::i32, {static_cast<int64_t>(starts.size())});
  auto outputs = graph::evaluate(g.graph, bindings);
  EXPECT_TRUE(outputs.is_ok()) << outputs.status().message();
  return (*outputs)[0].numbers();
}

class Runner {
 public:
  Runner(std::shared_ptr<const Program> program, ThreadPool& pool, int64_t most_tokens) {
    context_ = Context::create(std::move(program), pool,
                               {.bounds = {{"tokens", most_tokens}, {"boundaries", 9}}, .states = {}})
                   .value();
  }
  std::vector<float> operator()(const std::vector<float>& x, const std::vector<int32_t>& starts) {
    std::copy(x.begin(), x.begin() + starts.back() * 24, context_->input<float>("x"));
    std::copy(starts.begin(), starts.end(), context_->input<int32_t>("starts"));
    context_->set_size(context_->symbol("tokens"), starts.back());
    context_->set_size(context_->symbol("boundaries"), static_cast<int64_t>(starts.size()));
    EXPECT_TRUE(context_->run().is_ok());
    std::vector<float> y;
    for (int64_t t = 0; t < starts.back(); ++t) {
      const float* row = context_->output("y") + t * context_->output_stride("y");
      y.insert(y.end(), row, row + 50);
    }
    return y;
  }
  Context& context() { return *context_; }

 private:
  std::unique_ptr<Context> context_;
};

const Case kCases[] = {
    {.heads = 2, .kv_heads = 2, .head_dim = 16, .attrs = ""},
    {.heads = 3, .kv_heads = 3, .head_dim = 12, .attrs = ""},
    {.heads = 4, .kv_heads = 2, .head_dim = 8, .attrs = ", causal=true"},
    {.heads = 4, .kv_heads = 1, .head_dim = 5, .attrs = ", window=3"},
    {.heads = 2, .kv_heads = 2, .head_dim = 8, .attrs = ", causal=true, window=20"},
    {.heads = 3, .kv_heads = 3, .head_dim = 8, .attrs = "", .distances = 599},
};

// Of all lengths: nothing at all, one token, and more than one block of queries.
const std::vector<int32_t> kStarts = {0, 1, 1, 6, 23, 70, 370};

TEST(PackedGraphs, kernels_agree_with_the_interpreter) {
  for (const Case& c : kCases) {
    const TestGraph g(text_of(c), true);
    const std::vector<float> x = input_of(kStarts.back());
    const std::vector<double> want = reference(g, x, kStarts);
    for (const Isa isa : isas_here()) {
      ThreadPool pool({.threads = 2, .pin = false});
      Runner run(g.program(isa, pool), pool, 400);
      EXPECT_THAT(run.context().notes(), IsEmpty());
      const std::vector<float> got = run(x, kStarts);
      ASSERT_EQ(got.size(), want.size());
      for (size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], want[i], 2e-5) << c.heads << " heads" << c.attrs << " on " << isa_name(isa) << " at " << i;
    }
  }
}

TEST(PackedGraphs, neither_company_nor_threads_change_a_bit) {
  for (const Case& c : kCases) {
    const TestGraph g(text_of(c), true);
    const std::vector<float> x = input_of(kStarts.back());
    for (const Isa isa : isas_here()) {
      ThreadPool one({.threads = 1}), five({.threads = 5, .pin = false});
      const auto program = g.program(isa, one);
      Runner alone(program, one, 370), together(program, five, 512);
      const std::vector<float> want = together(x, kStarts);
      for (size_t s = 1; s < kStarts.size(); ++s) {
        const int32_t first = kStarts[s - 1], size = kStarts[s] - first;
        if (size == 0) continue;
        const std::vector<float> mine(x.begin() + first * 24, x.begin() + kStarts[s] * 24);
        const std::vector<float> got = alone(mine, {0, size});
        EXPECT_TRUE(std::equal(got.begin(), got.end(), want.begin() + first * 50))
            << c.heads << " heads" << c.attrs << " on " << isa_name(isa) << ", sequence " << s - 1;
      }
    }
  }
}

}  // namespace
}  // namespace nereid::runtime
