// SPDX-License-Identifier: Apache-2.0
#include "runtime/adapter.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/packed_weight.h"

namespace nereid::runtime {
namespace {

using kernels::kTileRows;

bool has_kernel(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}

size_t aligned(int64_t bytes) {
  return (static_cast<size_t>(bytes) + 63) / 64 * 64;
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

// Where a source lies and how. Tiles are those of the whole matrix: rows before its first and behind its last are zero.
struct Place {
  kernels::PackedLayout layout;  // of B
  int64_t first_tile = 0;
  size_t offset = 0, down_bytes = 0, up_bytes = 0;

  static Result<Place> of(const LowRankSource& s) {
    if (!has_kernel(s.dtype))
      return unsupported("low-rank matrices of {} are not supported; expected f32, f16 or bf16", dtype_name(s.dtype));
    Place place;
    place.first_tile = s.first_row / kTileRows;
    const int64_t rows = s.first_row + s.rows - place.first_tile * kTileRows;
    NEREID_TRY(place.layout, kernels::packed_layout(s.dtype, (rows + kTileRows - 1) / kTileRows * kTileRows, s.rank));
    place.down_bytes = aligned(s.rank * *dtype_bytes(s.dtype, kernels::low_rank_columns(s.cols)));
    place.up_bytes = aligned(place.layout.bytes());
    return place;
  }
};

void pack(const LowRankSource& s, const Place& place, std::byte* down, std::byte* up) {
  const int64_t row_bytes = *dtype_bytes(s.dtype, s.cols), b_row_bytes = *dtype_bytes(s.dtype, s.rank);
  const int64_t padded_bytes = *dtype_bytes(s.dtype, kernels::low_rank_columns(s.cols));
  for (int64_t k = 0; k < s.rank; ++k)
    std::memcpy(down + k * padded_bytes, s.down + k * row_bytes, static_cast<size_t>(row_bytes));
  std::vector<std::byte> rows(static_cast<size_t>(place.layout.rows * b_row_bytes));
  std::memcpy(rows.data() + (s.first_row - place.first_tile * kTileRows) * b_row_bytes, s.up,
              static_cast<size_t>(s.rows * b_row_bytes));
  const ConstTensorView view(rows.data(), s.dtype, {place.layout.rows, s.rank});
  kernels::pack_tiles(place.layout, {&view, 1}, 0, place.layout.tiles(), up);
}

}  // namespace

Result<std::shared_ptr<const Adapter>> Adapter::make(const graph::Graph& graph,
                                                     std::span<const LowRankSource> sources) {
  constexpr size_t kSlack = 16384;  // the last stream may be read past by the prefetches' distance
  std::vector<Place> places;
  size_t total = 0;
  for (const LowRankSource& s : sources) {
    NEREID_RETURN_IF_ERROR(check(graph, s));
    NEREID_TRY(Place place, Place::of(s));
    place.offset = total;
    total += place.down_bytes + place.up_bytes;
    places.push_back(place);
  }
  std::shared_ptr<Adapter> adapter(new Adapter);
  NEREID_TRY(adapter->memory_, Buffer::allocate(total + kSlack, PageSize::kHuge));
  for (size_t i = 0; i < sources.size(); ++i) {
    const LowRankSource& s = sources[i];
    std::byte* down = adapter->memory_.data() + places[i].offset;
    std::byte* up = down + places[i].down_bytes;
    pack(s, places[i], down, up);
    std::vector<kernels::LowRankPart>& parts = adapter->parts_[s.weight.v];
    parts.push_back({.codes = places[i].layout.codes,
                     .down = down,
                     .up = up,
                     .rank = s.rank,
                     .first_tile = places[i].first_tile,
                     .tiles = places[i].layout.tiles(),
                     .scale = s.scale});
    int64_t ranks = 0;
    for (const kernels::LowRankPart& part : parts) ranks += part.rank;
    if (ranks > kMaxRanks)
      return invalid_argument("the ranks of what is added to '{}' sum up to {} and should be at most {}",
                              graph.value(s.weight).name, ranks, kMaxRanks);
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
  return static_cast<int64_t>(memory_.size());
}

}  // namespace nereid::runtime
