// SPDX-License-Identifier: Apache-2.0
#include "runtime/adapter.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/packed_weight.h"

namespace nereid::runtime {
namespace {

using kernels::Codes;
using kernels::kTileRows;

Result<Codes> codes_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return Codes::kF32;
    case DType::f16:
      return Codes::kF16;
    case DType::bf16:
      return Codes::kBF16;
    default:
      return unsupported("low-rank matrices of {} are not supported; expected f32, f16 or bf16", dtype_name(dtype));
  }
}

Status check(const graph::Graph& graph, const LowRankSource& s) {
  const graph::Value& v = graph.value(s.weight);
  const Shape& shape = v.type.shape;
  if (v.kind != graph::Value::Kind::kConstant || shape.rank() != 2 || !shape[0].is_static() || !shape[1].is_static())
    return invalid_argument("'{}' is no matrix that an adapter could add to", v.name);
  if (s.rank < 1 || s.rank > Adapter::kMaxRank)
    return invalid_argument("the rank is {} and should be between 1 and {}", s.rank, Adapter::kMaxRank);
  if (s.cols != shape[1].size() || s.rows < 1 || s.first_row < 0 || s.rows > shape[0].size() - s.first_row)
    return invalid_argument("rows {} to {} of {} columns were to be added to '{}', which has {} rows of {} columns",
                            s.first_row, s.first_row + s.rows - 1, s.cols, v.name, shape[0].size(), shape[1].size());
  return Status::ok();
}

}  // namespace

Result<std::shared_ptr<const Adapter>> Adapter::make(const graph::Graph& graph,
                                                     std::span<const LowRankSource> sources) {
  // Ends of streams may be read past by the prefetches' distance.
  constexpr size_t kSlack = 4096;
  std::shared_ptr<Adapter> adapter(new Adapter);
  for (const LowRankSource& s : sources) {
    NEREID_RETURN_IF_ERROR(check(graph, s));
    NEREID_TRY(const Codes codes, codes_of(s.dtype));
    const int64_t element = *dtype_bytes(s.dtype, 1);

    const int64_t padded = kernels::low_rank_columns(s.cols);
    std::vector<std::byte> down(static_cast<size_t>(s.rank * padded * element) + kSlack);
    for (int64_t k = 0; k < s.rank; ++k)
      std::memcpy(down.data() + k * padded * element, s.down + k * s.cols * element,
                  static_cast<size_t>(s.cols * element));

    // Tiles are those of the whole matrix: rows before the first and behind the last are zero.
    const int64_t first_tile = s.first_row / kTileRows;
    const int64_t before = s.first_row - first_tile * kTileRows;
    const int64_t tiles = (before + s.rows + kTileRows - 1) / kTileRows;
    std::vector<std::byte> rows(static_cast<size_t>(tiles * kTileRows * s.rank * element));
    std::memcpy(rows.data() + before * s.rank * element, s.up, static_cast<size_t>(s.rows * s.rank * element));
    NEREID_TRY(const kernels::PackedLayout layout, kernels::packed_layout(s.dtype, tiles * kTileRows, s.rank));
    std::vector<std::byte> up(static_cast<size_t>(layout.bytes()) + kSlack);
    const ConstTensorView view(rows.data(), s.dtype, {tiles * kTileRows, s.rank});
    kernels::pack_tiles(layout, {&view, 1}, 0, layout.tiles(), up.data());

    std::vector<kernels::LowRankPart>& parts = adapter->parts_[s.weight.v];
    parts.push_back({.codes = codes,
                     .down = down.data(),
                     .up = up.data(),
                     .rank = s.rank,
                     .first_tile = first_tile,
                     .tiles = tiles,
                     .scale = s.scale});
    int64_t ranks = 0;
    for (const kernels::LowRankPart& part : parts) ranks += part.rank;
    if (ranks > kMaxRanks)
      return invalid_argument("the ranks of what is added to '{}' sum up to {} and should be at most {}",
                              graph.value(s.weight).name, ranks, kMaxRanks);
    adapter->memory_.push_back(std::move(down));
    adapter->memory_.push_back(std::move(up));
  }
  for (auto& [weight, parts] : adapter->parts_) std::ranges::stable_sort(parts, {}, &kernels::LowRankPart::first_tile);
  return std::shared_ptr<const Adapter>(std::move(adapter));
}

std::span<const kernels::LowRankPart> Adapter::parts(graph::ValueId weight) const {
  const auto it = parts_.find(weight.v);
  return it == parts_.end() ? std::span<const kernels::LowRankPart>() : it->second;
}

std::vector<graph::ValueId> Adapter::weights() const {
  std::vector<graph::ValueId> ids;
  for (const auto& [id, parts] : parts_) ids.push_back({id});
  return ids;
}

int64_t Adapter::bytes() const {
  int64_t total = 0;
  for (const std::vector<std::byte>& m : memory_) total += static_cast<int64_t>(m.size());
  return total;
}

}  // namespace nereid::runtime
