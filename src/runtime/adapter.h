// SPDX-License-Identifier: Apache-2.0
// A low-rank adapter (LoRA) of a program: what is added to the products of some of its matrices for rows that carry it.
//
// linear and gated_linear look for addends by their weights; a row without an adapter costs nothing, and the program
// and its engine stay as they are. Immutable; any number of contexts and threads may use one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"
#include "graph/graph.h"
#include "kernels/cpu/low_rank.h"

namespace nereid::runtime {

// y[first_row .. first_row + rows) of a product with `weight` gets scale * B (A x) added.
struct LowRankSource {
  graph::ValueId weight;
  int64_t first_row = 0, rows = 0, cols = 0, rank = 0;
  DType dtype = DType::f32;         // f32, f16 or bf16
  const std::byte* down = nullptr;  // A: [rank, cols]
  const std::byte* up = nullptr;    // B: [rows, rank]
  float scale = 1;
};

class Adapter {
 public:
  // The largest rank of a source, and of all of a matrix's together: what contexts have scratch for.
  static constexpr int64_t kMaxRank = 1024;
  static constexpr int64_t kMaxRanks = 3 * kMaxRank;

  // Copies the sources. kInvalidArgument: sizes that do not fit the weight, or ranks above the bounds; kUnsupported:
  // another element type; kExhausted.
  static Result<std::shared_ptr<const Adapter>> make(const graph::Graph& graph, std::span<const LowRankSource> sources);

  // Of a weight, by their first tiles; empty for one that it leaves alone.
  std::span<const kernels::LowRankPart> parts(graph::ValueId weight) const;
  std::vector<graph::ValueId> weights() const;
  int64_t bytes() const;

 private:
  Adapter() = default;
  std::map<int32_t, std::vector<kernels::LowRankPart>> parts_;  // by value id
  Buffer memory_;  // in huge pages where it is large: a token reads all of it
};

// Rows of a run that carry the same adapter, ascending.
struct AdapterRows {
  const Adapter* adapter = nullptr;
  std::span<const int32_t> rows;
};
using AdapterGroups = std::vector<AdapterRows>;

}  // namespace nereid::runtime
