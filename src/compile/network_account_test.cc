// SPDX-License-Identifier: Apache-2.0
// Layers of a small network: kernels, work, times.
#include "compile/network_account.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compile/network_view.h"
#include "graph/text.h"

namespace nereid::compile {
namespace {

// y = relu(x . w) for x of 8 rows; w has 16 columns of 32.
NetworkSession session() {
  graph::Graph g;
  const graph::ValueId x = g.add_input("x", {DType::f32, Shape({8, 32})});
  const graph::ValueId w = g.add_constant_f32("w", std::vector<float>(16 * 32, 0.5F), {32, 16});
  const graph::ValueId y = *g.add("dense", {x, w, {}}, {}, "y");
  const graph::ValueId z = *g.add("nonzero", {y}, {}, "z");
  g.add_output(z);
  NetworkSession s;
  s.network.network = runtime::Network::create(std::move(g), nullptr, Isa::baseline);
  s.network.inputs = {{"x", {DType::f32, Shape({8, 32})}}};
  s.values.emplace("x", ops::Tensor::of(DType::f32, {8, 32}, std::vector<double>(8 * 32, 1.0)));
  return s;
}

TEST(NetworkAccount, a_layer_has_its_kernel_its_sizes_and_its_work) {
  ThreadPool pool({.threads = 1});
  const Result<NetworkAccount> account = account_network(session(), pool, {});
  ASSERT_TRUE(account.is_ok()) << account.status().message();
  ASSERT_EQ(account->layers.size(), 2u);
  const LayerAccount& dense = account->layers[0];
  EXPECT_EQ(dense.name, "y");
  EXPECT_EQ(dense.kernel, "gemm");
  EXPECT_EQ(dense.precision, "f32");
  EXPECT_EQ(dense.inputs, (std::vector<std::string>{"f32[8, 32]", "f32[32, 16]", "", ""}));
  EXPECT_EQ(dense.outputs, std::vector<std::string>{"f32[8, 16]"});
  EXPECT_EQ(dense.cost.flops, 2.0 * 8 * 32 * 16);
  EXPECT_EQ(dense.bytes(), 4.0 * (8 * 32 + 16 * 32 + 8 * 16));
  EXPECT_FALSE(dense.ms.has_value());
  EXPECT_FALSE(dense.roof_share().has_value());
  // Only a run knows how many indices there are: here all of them, two a number.
  EXPECT_EQ(account->layers[1].outputs, std::vector<std::string>{"i64[2, 128]"});
}

TEST(NetworkAccount, what_runs_on_an_evaluator_says_why) {
  ThreadPool pool({.threads = 1});
  const Result<NetworkAccount> account = account_network(session(), pool, {});
  ASSERT_TRUE(account.is_ok());
  EXPECT_EQ(account->layers[1].kernel, "reference");
  EXPECT_FALSE(account->layers[1].note.empty());
}

TEST(NetworkAccount, timed_layers_have_times_and_a_roof) {
  ThreadPool pool({.threads = 1});
  const Result<NetworkAccount> account = account_network(session(), pool, {.runs = 3, .most_seconds = 5});
  ASSERT_TRUE(account.is_ok());
  EXPECT_EQ(account->runs, 3);
  ASSERT_TRUE(account->roof.has_value());
  EXPECT_GT(account->roof->flops_per_second, 0);
  ASSERT_TRUE(account->layers[0].ms.has_value());
  EXPECT_GT(*account->layers[0].ms, 0);
  EXPECT_GT(account->layers[0].roof_ms, 0);
}

TEST(NetworkAccount, a_graph_that_does_not_run_has_a_reason_instead_of_kernels) {
  const Result<graph::Graph> g = graph::parse(R"(graph net {
  input %x: f32[n, 4]
  %y: f32[n, 4] = relu(%x)
  output %y
}
)");
  ASSERT_TRUE(g.is_ok());
  const NetworkAccount account = account_graph(*g, "nobody said how large x is");
  EXPECT_EQ(account.not_run, "nobody said how large x is");
  ASSERT_EQ(account.layers.size(), 1u);
  EXPECT_EQ(account.layers[0].kernel, "");
  EXPECT_EQ(account.layers[0].outputs, std::vector<std::string>{"f32[n, 4]"});
}

NetworkView small_view() {
  NetworkView view{.file = "net.onnx", .kind = "ONNX file", .isa = "avx2", .precision = "f32"};
  view.before = *graph::parse(
      "graph net {\n  input %x: f32[2]\n  %a: f32[2] = exp(%x)\n  %y: f32[2] = relu(%a)\n  output %y\n}\n");
  view.after = *graph::parse("graph net {\n  input %x: f32[2]\n  %y: f32[2] = relu(%x)\n  output %y\n}\n");
  view.sources = {{.name = "first", .op = "Exp", .domain = "", .outputs = {"a"}},
                  {.name = "second", .op = "Relu", .domain = "com.example", .outputs = {"y"}}};
  view.passes = summarize_passes({{{.name = "fold_constants",
                                    .enabled = true,
                                    .nodes_before = 2,
                                    .nodes_after = 1,
                                    .records = {{.fired = true, .where = "exp %a", .what = "gone"},
                                                {.fired = false, .where = "relu %y", .what = "why not"}}}}});
  view.account = account_graph(view.after, "");
  view.account.layers[0].ms = 0.25;
  view.account.layers[0].roof_ms = 0.125;
  view.account.layers[0].candidates = {{.tactic = "mr=6", .ms = 0.5}};
  return view;
}

TEST(NetworkViewJson, the_fields_that_pages_and_scripts_read_are_there) {
  const OrderedJson json = view_json(small_view(), true);
  EXPECT_EQ(json["model"], "net.onnx");
  EXPECT_EQ(json["nodes_imported"], 2);
  EXPECT_EQ(json["nodes_optimised"], 1);
  const OrderedJson& layer = json["layers"][0];
  EXPECT_EQ(layer["name"], "y");
  EXPECT_EQ(layer["op"], "relu");
  EXPECT_EQ(layer["ms"], 0.25);
  EXPECT_EQ(layer["roof_share"], 0.5);
  EXPECT_EQ(layer["candidates"][0]["tactic"], "mr=6");
  const OrderedJson& pass = json["passes"][0];
  EXPECT_EQ(pass["name"], "fold_constants");
  EXPECT_FALSE(pass["reason"].get<std::string>().empty());
  EXPECT_EQ(pass["fired"], 1);
  EXPECT_EQ(pass["records"][1], (OrderedJson{{"fired", false}, {"where", "relu %y"}, {"what", "why not"}}));
  EXPECT_EQ(json["graphs"]["after"][0]["nodes"][0]["from"], (OrderedJson{0, 1}));
  EXPECT_EQ(json["sources"][json["graphs"]["before"][0]["nodes"][1]["source"].get<size_t>()],
            (OrderedJson{"second", "com.example.Relu"}));
}

TEST(PassSummary, an_engine_keeps_the_numbers_of_passes_that_did_something) {
  std::vector<PassSummary> passes = small_view().passes;
  passes.push_back({.name = "dead_code", .nodes_before = 1, .nodes_after = 1});
  const std::vector<PassSummary> kept = passes_from_info({{"passes", passes_info(passes)}});
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].name, "fold_constants");
  EXPECT_EQ(kept[0].fired, 1);
  EXPECT_EQ(kept[0].refused, 1);
  EXPECT_EQ(kept[0].nodes_before, 2);
  EXPECT_EQ(kept[0].nodes_after, 1);
  EXPECT_FALSE(kept[0].reason.empty());
}

TEST(PassSummary, what_is_damaged_in_an_engine_is_left_out) {
  EXPECT_TRUE(passes_from_info(Json::object()).empty());
  EXPECT_TRUE(passes_from_info({{"passes", 7}}).empty());
  EXPECT_TRUE(passes_from_info({{"passes", {{{"name", "x"}}, 3, {{"name", 4}, {"nodes", {1, 2}}}}}}).empty());
}

TEST(NetworkViewJson, an_engine_has_no_graph_before_and_scripts_get_no_graphs) {
  NetworkView view = small_view();
  view.before.reset();
  EXPECT_TRUE(view_json(view, true)["nodes_imported"].is_null());
  EXPECT_FALSE(view_json(view, true)["graphs"].contains("before"));
  EXPECT_FALSE(view_json(view, false).contains("graphs"));
}

}  // namespace
}  // namespace nereid::compile
