// SPDX-License-Identifier: Apache-2.0
#include "passes/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/text.h"
#include "passes/random_tensors.h"

namespace nereid::passes {
namespace {

using graph::Graph;
using testing::HasSubstr;

// Two layers as the architectures build them: plain linears, norms, ropes; layer 1 has biases and head norms.
constexpr std::string_view kDecoder = R"(graph decoder {
  input %tokens: i32[T]
  input %positions: i32[T]
  input %sequence: i32[T]
  input %page_table: i32[S, P]
  input %rows: i32[R]
  state %k_cache.0: f32[pages, 2, 4, 16]
  state %v_cache.0: f32[pages, 2, 4, 16]
  state %k_cache.1: f32[pages, 2, 4, 16]
  state %v_cache.1: f32[pages, 2, 4, 16]
  const %embed: q8_0[48, 64]
  const %inv_freq: f32[8] = [1, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125]
  const %0.attn_norm: f32[64]
  const %0.q: q8_0[64, 64]
  const %0.k: q8_0[32, 64]
  const %0.v: q8_0[32, 64]
  const %0.o: q8_0[64, 64]
  const %0.ffn_norm: f32[64]
  const %0.gate: q8_0[96, 64]
  const %0.up: q8_0[96, 64]
  const %0.down: q8_0[64, 96]
  const %1.attn_norm: f32[64]
  const %1.q: f32[64, 64]
  const %1.q.bias: f32[64]
  const %1.k: f32[32, 64]
  const %1.k.bias: f32[32]
  const %1.v: f32[32, 64]
  const %1.v.bias: f32[32]
  const %1.q_norm: f32[16]
  const %1.o: f32[64, 64]
  const %1.post_norm: f32[64]
  const %1.ffn_norm: f32[64]
  const %1.gate: f32[96, 64]
  const %1.up: f32[96, 64]
  const %1.down: f32[64, 96]
  const %final_norm: f32[64]
  %x = embedding(%tokens, %embed)
  %n0 = rms_norm(%x, %0.attn_norm)
  %q0 = linear(%n0, %0.q)
  %k0 = linear(%n0, %0.k)
  %v0 = linear(%n0, %0.v)
  %qr0 = rope(%q0, %positions, %inv_freq) {head_dim=16}
  %kr0 = rope(%k0, %positions, %inv_freq) {head_dim=16}
  %a0 = attention(%qr0, %kr0, %v0, %k_cache.0, %v_cache.0, %positions, %sequence, %page_table) {heads=4, kv_heads=2, head_dim=16, scale=0.25}
  %o0 = linear(%a0, %0.o)
  %x1 = add(%x, %o0)
  %m0 = rms_norm(%x1, %0.ffn_norm)
  %g0 = linear(%m0, %0.gate)
  %u0 = linear(%m0, %0.up)
  %h0 = gated(%g0, %u0)
  %d0 = linear(%h0, %0.down)
  %x2 = add(%x1, %d0)
  %n1 = rms_norm(%x2, %1.attn_norm)
  %q1 = linear(%n1, %1.q, %1.q.bias)
  %k1 = linear(%n1, %1.k, %1.k.bias)
  %v1 = linear(%n1, %1.v, %1.v.bias)
  %qn1 = rms_norm(%q1, %1.q_norm) {group=16}
  %qr1 = rope(%qn1, %positions, %inv_freq) {head_dim=16}
  %kr1 = rope(%k1, %positions, %inv_freq) {head_dim=16}
  %a1 = attention(%qr1, %kr1, %v1, %k_cache.1, %v_cache.1, %positions, %sequence, %page_table) {heads=4, kv_heads=2, head_dim=16, scale=0.25, window=3}
  %o1 = linear(%a1, %1.o)
  %p1 = rms_norm(%o1, %1.post_norm)
  %x3 = add(%x2, %p1)
  %m1 = rms_norm(%x3, %1.ffn_norm)
  %g1 = linear(%m1, %1.gate)
  %s1 = gelu_tanh(%g1)
  %u1 = linear(%m1, %1.up)
  %h1 = mul(%s1, %u1)
  %d1 = linear(%h1, %1.down)
  %x4 = add(%x3, %d1)
  %last = select_rows(%x4, %rows)
  %f = rms_norm(%last, %final_norm)
  %logits = linear(%f, %embed)
  output %logits
})";

Graph decoder() {
  auto g = graph::parse(kDecoder);
  EXPECT_TRUE(g.is_ok()) << g.status().message();
  return std::move(g).value();
}

std::vector<std::string> op_names(const Graph& g) {
  std::vector<std::string> names;
  for (graph::NodeId n : g.order()) names.emplace_back(g.node(n).op->name);
  return names;
}

TEST(Pipeline, a_decoder_shrinks_to_its_fused_ops) {
  Graph g = decoder();
  ASSERT_TRUE(run_pipeline(g, {.verify = true}).is_ok());
  EXPECT_THAT(op_names(g), testing::ElementsAre("embedding", "linear", "split", "attention", "linear", "gated_linear",
                                                "linear", "linear", "split", "rms_norm", "attention", "linear",
                                                "rms_norm", "gated_linear", "linear", "select_rows", "linear"));
}

TEST(Pipeline, a_fused_decoder_computes_the_same_logits_and_leaves_the_same_cache) {
  // Five tokens of two sequences, pages in no order.
  RandomTensors tensors({.sizes = {{"T", 5}, {"S", 2}, {"P", 2}, {"R", 2}, {"pages", 4}},
                         .bindings = {{"tokens", {3, 47, 0, 11, 7}},
                                      {"positions", {0, 1, 2, 3, 4}},
                                      {"sequence", {0, 0, 0, 0, 0}},
                                      {"page_table", {2, 1, 0, 3}},
                                      {"rows", {4, 1}}}});
  Graph before = decoder();
  tensors.fill(before);
  Graph after = before;
  ASSERT_TRUE(run_pipeline(after, {.verify = true}).is_ok());
  // Rounding adds up over two layers.
  expect_equal(tensors.results(before), tensors.results(after), 4 * tolerance_of(before, after));
}

TEST(Pipeline, every_pass_can_be_left_out_without_changing_the_result) {
  RandomTensors tensors(
      {.sizes = {{"T", 2}, {"S", 1}, {"P", 1}, {"R", 1}, {"pages", 1}}, .bindings = {{"positions", {0, 1}}}});
  Graph before = decoder();
  tensors.fill(before);
  const auto expected = tensors.results(before);
  for (const Pass& pass : pipeline()) {
    SCOPED_TRACE(pass.name);
    Graph after = before;
    auto report = run_pipeline(after, {.disabled = {std::string(pass.name)}, .verify = true});
    ASSERT_TRUE(report.is_ok()) << report.status().message();
    expect_equal(expected, tensors.results(after), 4 * tolerance_of(before, after));
  }
}

TEST(Pipeline, a_second_run_finds_nothing_more) {
  Graph g = decoder();
  ASSERT_TRUE(run_pipeline(g).is_ok());
  const std::string once = graph::print(g);
  auto report = run_pipeline(g);
  ASSERT_TRUE(report.is_ok());
  for (const PassReport& pass : report->passes) EXPECT_EQ(pass.fired(), 0u) << pass.name;
  EXPECT_EQ(graph::print(g), once);
}

TEST(Pipeline, a_disabled_pass_does_not_run_and_an_unknown_one_is_refused) {
  Graph g = decoder();
  auto report = run_pipeline(g, {.disabled = {"fuse_qkv"}});
  ASSERT_TRUE(report.is_ok());
  EXPECT_THAT(report->to_text(), HasSubstr("fuse_qkv: disabled\n"));
  EXPECT_THAT(op_names(g), testing::Not(testing::Contains("split")));
  EXPECT_THAT(run_pipeline(g, {.disabled = {"fuse_all"}}).status().message(),
              HasSubstr("there is no pass 'fuse_all' to disable; the passes are dead_code, "));
}

TEST(Pipeline, what_the_target_declines_stays_as_it_was_with_the_reason) {
  Graph g = decoder();
  Options options;
  options.capabilities.accepts = [](const ops::OpDef& op, auto, const auto&) {
    return op.name == "gated_linear" ? unsupported("no kernel of two weights") : Status::ok();
  };
  auto report = run_pipeline(g, options);
  ASSERT_TRUE(report.is_ok());
  EXPECT_THAT(op_names(g), testing::Not(testing::Contains("gated_linear")));
  EXPECT_THAT(report->to_text(), HasSubstr("  - linear %g0: no kernel of two weights\n"));
}

// A stem, a residual block with a gate, attention over its pixels, a head; written as exporters do.
constexpr std::string_view kNetwork = R"(graph network {
  input %x: f32[n, 3, h, w]
  const %w0: f32[8, 3, 3, 3]
  const %w1: f32[8, 8, 1, 1]
  const %w2: f32[8, 8, 1, 1]
  const %qkv: f32[8, 24]
  const %qkv.bias: f32[24]
  const %out: f32[8, 4]
  const %ln: f32[8]
  const %sizes: i64[3] = [0, 8, -1]
  const %three: f32[] = [3]
  const %zero: f32[] = [0]
  const %six: f32[] = [6]
  const %half: f32[] = [0.5]
  const %i0: i64[] = [0]
  const %i1: i64[] = [1]
  const %i2: i64[] = [2]
  const %space: i64[1] = [1]
  %a = conv(%x, %w0) {pads=[1, 1, 1, 1], strides=[2, 2]}
  %b = add(%a, %three)
  %c = clip(%b, %zero, %six)
  %d = mul(%a, %c)
  %e = div(%d, %six)
  %f = conv(%e, %w1)
  %g = global_average_pool(%f)
  %s = sigmoid(%g)
  %m = mul(%f, %s)
  %r = add(%m, %e)
  %k = conv(%r, %w2)
  %p = add(%k, %r)
  %t = relu(%p)
  %flat = reshape_to(%t, %sizes)
  %rows = transpose(%flat) {permutation=[0, 2, 1]}
  %norm = layer_normalization(%rows, %ln)
  %y = matmul(%norm, %qkv)
  %yb = add(%y, %qkv.bias)
  %five = reshape(%yb) {shape=[0, -1, 3, 2, 4]}
  %heads = transpose(%five) {permutation=[2, 0, 3, 1, 4]}
  %q = gather(%heads, %i0)
  %kk = gather(%heads, %i1)
  %v = gather(%heads, %i2)
  %kt = transpose(%kk) {permutation=[0, 1, 3, 2]}
  %scores = matmul(%q, %kt)
  %scaled = mul(%scores, %half)
  %prob = softmax(%scaled)
  %o = matmul(%prob, %v)
  %back = transpose(%o) {permutation=[0, 2, 1, 3]}
  %joined = reshape(%back) {shape=[0, -1, 8]}
  %mean = reduce_mean(%joined, %space) {keepdims=false}
  %logits = matmul(%mean, %out)
  %result = softmax(%logits)
  output %result
})";

TEST(NetworkPipeline, lowers_a_network_and_finds_nothing_more_the_second_time) {
  Graph before = *graph::parse(kNetwork);
  RandomTensors tensors({.sizes = {{"n", 2}, {"h", 6}, {"w", 8}}, .bindings = {}});
  tensors.fill(before);
  Graph after = before;
  auto report = run_network_pipeline(after, {.verify = true});
  ASSERT_TRUE(report.is_ok()) << report.status().message();
  expect_equal(tensors.results(before), tensors.results(after), 1e-5);
  std::map<std::string_view, int> count;
  for (graph::NodeId id : after.order()) ++count[after.node(id).op->name];
  EXPECT_EQ(count["conv_last"], 3) << graph::print(after);
  EXPECT_EQ(count["scaled_dot_attention"], 1) << graph::print(after);
  EXPECT_EQ(count["transpose"], 1) << graph::print(after);
  EXPECT_EQ(count["dense"], 2) << graph::print(after);
  const std::string once = graph::print(after);
  ASSERT_TRUE(run_network_pipeline(after).is_ok());
  EXPECT_EQ(graph::print(after), once);
}

TEST(NetworkPipeline, names_the_passes_when_one_is_unknown) {
  Graph g = *graph::parse(kNetwork);
  const auto report = run_network_pipeline(g, {.disabled = {"no_such_pass"}});
  EXPECT_THAT(report.status().message(), HasSubstr("layout_last"));
}

}  // namespace
}  // namespace nereid::passes
