// SPDX-License-Identifier: Apache-2.0
// Graphs as JSON, and which nodes became which.
#include "compile/graph_json.h"

#include <gtest/gtest.h>

#include "compile/graph_origin.h"
#include "compile/machine_roof.h"
#include "graph/text.h"

namespace nereid::compile {
namespace {

graph::Graph parsed(std::string_view text) {
  Result<graph::Graph> g = graph::parse(text);
  EXPECT_TRUE(g.is_ok()) << g.status().message();
  return std::move(g).value();
}

TEST(GraphJson, values_are_numbered_and_constants_have_bytes_and_few_numbers) {
  const OrderedJson graphs = graphs_json(parsed(R"(graph net {
  input %x: f32[1, 4]
  const %w: f32[4] = [1.0, 2.0, 0.5, -3.0]
  const %absent: f32[4, 1000]
  %y: f32[1, 4] = mul(%x, %w)
  %z: f32[1, 1000] = dense(%y, %absent, _)
  output %z
}
)"));
  ASSERT_EQ(graphs.size(), 1u);
  const OrderedJson& g = graphs[0];
  EXPECT_EQ(g["path"], "");
  EXPECT_EQ(g["name"], "net");
  const auto name = [&](const OrderedJson& place) {
    return g["values"][place.get<size_t>()]["name"].get<std::string>();
  };
  EXPECT_EQ(name(g["inputs"][0]), "x");
  EXPECT_EQ(name(g["outputs"][0]), "z");
  const OrderedJson& mul = g["nodes"][0];
  EXPECT_EQ(mul["op"], "mul");
  EXPECT_EQ(name(mul["in"][1]), "w");
  const OrderedJson& w = g["values"][mul["in"][1].get<size_t>()];
  EXPECT_EQ(w["type"], "f32[4]");
  EXPECT_EQ(w["bytes"], 16);
  EXPECT_EQ(w["data"], "[1, 2, 0.5, -3]");
  const OrderedJson& dense = g["nodes"][1];
  EXPECT_EQ(dense["in"][2], -1);
  const OrderedJson& absent = g["values"][dense["in"][1].get<size_t>()];
  EXPECT_EQ(absent["bytes"], 16000);
  EXPECT_FALSE(absent.contains("data"));
  EXPECT_FALSE(g["values"][g["inputs"][0].get<size_t>()].contains("bytes"));
}

TEST(GraphJson, attributes_that_have_their_default_are_left_out) {
  const OrderedJson graphs = graphs_json(parsed(R"(graph net {
  input %x: f32[2, 4]
  %a: f32[2, 4] = softmax(%x) {axis=0}
  %b: f32[2, 4] = softmax(%a) {axis=-1}
  output %b
}
)"));
  EXPECT_EQ(graphs[0]["nodes"][0]["attrs"], (OrderedJson{{"axis", "0"}}));
  EXPECT_FALSE(graphs[0]["nodes"][1].contains("attrs"));
}

TEST(GraphOrigins, a_node_was_made_of_all_that_leads_to_its_result_and_is_no_more) {
  const graph::Graph before = parsed(R"(graph net {
  input %x: f32[2, 4]
  %early: f32[2, 4] = relu(%x)
  %a: f32[2, 4] = exp(%early)
  %b: f32[2, 4] = neg(%a)
  %c: f32[2, 4] = add(%b, %early)
  output %c
}
)");
  const graph::Graph after = parsed(R"(graph net {
  input %x: f32[2, 4]
  %early: f32[2, 4] = relu(%x)
  %made: f32[2, 4] = identity(%early)
  %c: f32[2, 4] = add(%made, %early)
  output %c
}
)");
  EXPECT_EQ(graph_origins(before, after), (std::vector<std::vector<size_t>>{{0}, {}, {1, 2, 3}}));
}

TEST(MachineRoof, a_layer_takes_the_longer_of_its_arithmetic_and_its_bytes) {
  const MachineRoof roof{.flops_per_second = 1e9, .memory = {{1000, 1e7}, {100'000, 1e6}}};
  EXPECT_DOUBLE_EQ(roof.least_ms({.flops = 1e6, .bytes_read = 10, .bytes_written = 0}), 1.0);
  // 500 bytes lie in the fast buffer, 5000 in the slow one, and a million are read as the largest buffer is.
  EXPECT_DOUBLE_EQ(roof.memory_ms({.flops = 0, .bytes_read = 300, .bytes_written = 200}), 0.05);
  EXPECT_DOUBLE_EQ(roof.memory_ms({.flops = 0, .bytes_read = 5000, .bytes_written = 0}), 5.0);
  EXPECT_DOUBLE_EQ(roof.memory_ms({.flops = 0, .bytes_read = 1e6, .bytes_written = 0}), 1000.0);
  EXPECT_EQ(MachineRoof{}.least_ms({.flops = 1, .bytes_read = 1, .bytes_written = 1}), 0);
}

}  // namespace
}  // namespace nereid::compile
