// SPDX-License-Identifier: Apache-2.0
// For tests only: a program from a graph's text with random weights, and the same graph for the reference interpreter.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/test_dir.h"
#include "engine/engine_file.h"
#include "graph/evaluate.h"
#include "graph/text.h"
#include "kernels/cpu/packed_weight.h"
#include "passes/pipeline.h"
#include "runtime/context.h"

namespace nereid::runtime::testing {

inline std::vector<Isa> isas_here() {
  static const Isa kBest = best_isa(read_cpu_info()).value();
  std::vector<Isa> out;
  for (Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512, Isa::amx})
    if (isa <= kBest) out.push_back(isa);
  return out;
}

// A graph whose constants have data. Matrices are normal with variance 1 / columns and vectors near 1, so that
// activations keep their size through any number of layers.
struct TestGraph {
  graph::Graph graph;
  std::map<std::string, ops::Tensor> constants;

  explicit TestGraph(std::string_view text, bool fuse = false) {
    Result<graph::Graph> parsed = graph::parse(text);
    EXPECT_TRUE(parsed.is_ok()) << parsed.status().message();
    if (!parsed.is_ok()) return;
    graph = std::move(parsed).value();
    std::mt19937 random(42);
    std::normal_distribution<double> normal;
    for (graph::ValueId id : graph.constants()) {
      const graph::Value& v = graph.value(id);
      if (!v.data.parts.empty()) continue;
      const std::vector<int64_t> sizes = v.type.shape.sizes();
      std::vector<double> numbers(static_cast<size_t>(*v.type.shape.elements()));
      for (double& x : numbers)
        x = sizes.size() == 1 ? 1 + 0.1 * normal(random)
                              : normal(random) / std::sqrt(static_cast<double>(sizes.back()));
      auto [it, fresh] = constants.emplace(v.name, ops::Tensor::of(v.type.dtype, sizes, numbers));
      graph.bind_constant(id, {.parts = {std::as_const(it->second).view()}});
    }
    EXPECT_TRUE(!fuse || passes::run_pipeline(graph).is_ok());
  }

  // Matrices packed, the rest as it is: what compile/ writes.
  void write(const std::string& path) const {
    engine::EngineWriter writer = engine::EngineWriter::create(path).value();
    std::set<int32_t> matrices;
    for (graph::NodeId n : graph.order()) {
      const graph::Node& node = graph.node(n);
      if (node.op->name == "linear" || node.op->name == "embedding") matrices.insert(node.inputs[1].v);
      if (node.op->name == "gated_linear") matrices.insert({node.inputs[1].v, node.inputs[2].v});
    }
    for (graph::ValueId id : graph.constants()) {
      const graph::Value& v = graph.value(id);
      if (matrices.contains(id.v)) {
        const std::vector<int64_t> sizes = v.type.shape.sizes();
        const kernels::PackedLayout layout = kernels::packed_layout(v.type.dtype, sizes[0], sizes[1]).value();
        std::vector<std::byte> packed(static_cast<size_t>(layout.bytes()));
        kernels::pack_tiles(layout, v.data.parts, 0, layout.tiles(), packed.data());
        ASSERT_TRUE(writer.begin_weight(v.name, layout.to_text()).is_ok());
        ASSERT_TRUE(writer.write_weight(packed).is_ok());
      } else {
        ASSERT_TRUE(writer.begin_weight(v.name, "").is_ok());
        for (const ConstTensorView& part : v.data.parts)
          ASSERT_TRUE(writer.write_weight({part.as<std::byte>(), static_cast<size_t>(part.bytes())}).is_ok());
      }
    }
    const Status s =
        writer.commit(Json::object(), graph::print(graph, {.inline_elements = 0, .all_attributes = true}), "");
    ASSERT_TRUE(s.is_ok()) << s.message();
  }

  std::shared_ptr<const Program> program(Isa isa, ThreadPool& pool) const {
    const TestDir dir;
    write(dir / "e");
    const engine::EngineFile file = engine::EngineFile::open(dir / "e").value();
    Result<std::shared_ptr<const Program>> program = Program::load(file, isa, pool);
    EXPECT_TRUE(program.is_ok()) << program.status().message();
    return program.is_ok() ? std::move(program).value() : nullptr;
  }
};

}  // namespace nereid::runtime::testing
