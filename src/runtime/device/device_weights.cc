// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/device_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/float_convert.h"
#include "kernels/cpu/packed_weight.h"

namespace nereid::runtime {
namespace {

namespace gpu = kernels::cuda;
using kernels::Codes;
using kernels::PackedLayout;
using kernels::PackedWeight;

constexpr int64_t kStagingBytes = int64_t{32} << 20;

uint16_t to_element(float v, gpu::Element element) {
  return element == gpu::Element::kBF16 ? f32_to_bf16(v) : f32_to_f16(v);
}

// Rows [first, first + count) of a float matrix as the 16-bit type, `cols` apart.
void make_float_rows(const PackedWeight& w, gpu::Element element, int64_t first, int64_t count, std::byte* dst) {
  const PackedLayout& l = w.layout;
  auto* out = reinterpret_cast<uint16_t*>(dst);
  const bool is_same = l.codes == (element == gpu::Element::kBF16 ? Codes::kBF16 : Codes::kF16);
  std::vector<float> row(static_cast<size_t>(is_same ? 0 : l.cols));
  for (int64_t r = first; r < first + count; ++r, out += l.cols) {
    if (is_same) {  // the same bits: a column of its tile
      const auto* in = reinterpret_cast<const uint16_t*>(w.tile(r / kernels::kTileRows)) + r % kernels::kTileRows;
      for (int64_t c = 0; c < l.cols; ++c) out[c] = in[c * kernels::kTileRows];
    } else {
      kernels::unpack_row(w, r, row.data());
      for (int64_t c = 0; c < l.cols; ++c) out[c] = to_element(row[static_cast<size_t>(c)], element);
    }
  }
}

// The group form of one row of the CPU's tiles (kernels/cpu/packed_weight.h says how they lie).
void read_group_form(const PackedWeight& w, int64_t row, uint8_t* codes, float* scale, float* offset) {
  const PackedLayout& l = w.layout;
  const std::byte* tile = w.tile(row / kernels::kTileRows);
  const int64_t r = row % kernels::kTileRows;
  const int64_t groups = kernels::kBlockColumns / l.group;
  const int64_t header = groups * kernels::kTileRows * 2 * (l.has_offset ? 2 : 1);
  for (int64_t k = 0; k < l.cols; ++k) {
    const std::byte* block = tile + k / kernels::kBlockColumns * l.block_bytes();
    const auto* packed = reinterpret_cast<const uint8_t*>(block + header);
    const int64_t c = k % kernels::kBlockColumns;
    if (l.codes == Codes::kCode4) {
      const uint8_t byte = packed[c / 8 * 64 + r * 4 + c % 4];
      codes[k] = c % 8 < 4 ? byte & 15 : byte >> 4;
    } else {
      codes[k] = packed[c / 4 * 64 + r * 4 + c % 4];
    }
    if (c % l.group != 0) continue;
    const auto* scales = reinterpret_cast<const uint16_t*>(block);
    const int64_t g = c / l.group;
    scale[k / l.group] = f16_to_f32(scales[g * kernels::kTileRows + r]);
    if (l.has_offset) offset[k / l.group] = f16_to_f32(scales[(groups + g) * kernels::kTileRows + r]);
  }
}

void make_coded_tiles(const PackedWeight& w, const gpu::Weight& layout, const gpu::KernelTable& kernels, int64_t first,
                      int64_t count, std::byte* dst) {
  const int64_t groups = layout.cols / layout.group;
  const auto rows = static_cast<size_t>(gpu::kTileRows);
  std::vector<uint8_t> codes(rows * static_cast<size_t>(layout.cols));
  std::vector<float> scale(rows * static_cast<size_t>(groups)), offset(scale.size());
  for (int64_t t = first; t < first + count; ++t, dst += gpu::tile_bytes(layout)) {
    const int64_t row_count = std::min(gpu::kTileRows, layout.rows - t * gpu::kTileRows);
    for (int64_t r = 0; r < row_count; ++r)
      read_group_form(w, t * gpu::kTileRows + r, codes.data() + r * layout.cols, scale.data() + r * groups,
                      offset.data() + r * groups);
    kernels.pack_tile(layout, codes.data(), scale.data(), layout.has_offset ? offset.data() : nullptr, row_count, dst);
  }
}

}  // namespace

DType activation_type(const graph::Graph& graph) {
  for (graph::ValueId id : graph.constants()) {
    const ops::TensorType& type = graph.value(id).type;
    if (type.dtype == DType::bf16 && type.shape.rank() == 2) return DType::bf16;
  }
  return DType::f16;
}

DeviceWeights::DeviceWeights(std::shared_ptr<const Program> program, device::Device& device,
                             const gpu::KernelTable& kernels, device::Stream& stream, ThreadPool& pool,
                             bool floats_as_f8)
    : program_(std::move(program)),
      device_(device),
      kernels_(kernels),
      stream_(stream),
      pool_(pool),
      floats_as_f8_(floats_as_f8) {}

Result<std::byte*> DeviceWeights::upload(int64_t rows, int64_t row_bytes, const MakeRows& make) {
  NEREID_TRY(device::Memory memory, device_.allocate(rows * row_bytes));
  const int64_t rows_a_piece = std::max<int64_t>(1, kStagingBytes / row_bytes);
  for (int i = 0; i < 2; ++i) {
    if (staging_[i].bytes() < std::min(rows, rows_a_piece) * row_bytes) {
      NEREID_RETURN_IF_ERROR(device_.synchronize(stream_));
      NEREID_TRY(staging_[i], device_.allocate_host(std::max(kStagingBytes, row_bytes)));
    }
    if (!done_[i]) {
      NEREID_TRY(done_[i], device_.make_event());
    }
  }
  int turn = 0;
  for (int64_t row = 0; row < rows; row += rows_a_piece, turn ^= 1) {
    const int64_t count = std::min(rows_a_piece, rows - row);
    // Two pieces: one is filled while the other is copied. A piece is free again once the stream got past its copy.
    if (row >= 2 * rows_a_piece) NEREID_RETURN_IF_ERROR(device_.synchronize(done_[turn]));
    std::byte* dst = staging_[turn].data();
    pool_.run([&](Worker& w) {
      const auto [begin, end] = w.slice(count);
      if (begin < end) make(row + begin, end - begin, dst + begin * row_bytes);
    });
    NEREID_RETURN_IF_ERROR(
        device_.copy(memory.data() + row * row_bytes, dst, count * row_bytes, device::Direction::kToDevice, stream_));
    NEREID_RETURN_IF_ERROR(device_.record(done_[turn], stream_));
  }
  NEREID_RETURN_IF_ERROR(device_.synchronize(stream_));
  bytes_ += memory.bytes();
  memory_.push_back(std::move(memory));
  return memory_.back().data();
}

Result<gpu::Weight> DeviceWeights::matrix(graph::ValueId id, gpu::Element element) {
  if (const auto it = matrices_.find(id.v); it != matrices_.end()) return it->second;
  const std::string& name = program_->graph().value(id).name;
  const Weight* source = program_->weight(id);
  if (source == nullptr || !source->is_packed) return unsupported("'{}' is no packed matrix", name);
  const PackedWeight& w = source->packed;
  const PackedLayout& l = w.layout;
  if (l.cols % 8 != 0) return unsupported("'{}' has {} columns, which is not a multiple of 8", name, l.cols);
  gpu::Weight weight{.rows = l.rows, .cols = l.cols};
  Result<std::byte*> data = nullptr;
  if (l.is_float()) {
    weight.codes = element == gpu::Element::kBF16 ? gpu::Codes::kBF16 : gpu::Codes::kF16;
    weight.stride = l.cols;
    data = upload(l.rows, l.cols * 2, [&](int64_t first, int64_t count, std::byte* dst) {
      make_float_rows(w, element, first, count, dst);
    });
  } else {
    if (l.cols % l.group != 0)
      return unsupported("'{}' has groups of {} that do not fill its {} columns", name, l.group, l.cols);
    weight.codes = l.codes == Codes::kCode4 ? gpu::Codes::kCode4 : gpu::Codes::kCode8;
    weight.group = l.group;
    weight.has_offset = l.has_offset;
    weight.zero = l.zero;
    data = upload(gpu::tiles(weight), gpu::tile_bytes(weight), [&](int64_t first, int64_t count, std::byte* dst) {
      make_coded_tiles(w, weight, kernels_, first, count, dst);
    });
  }
  if (!data.is_ok()) return std::move(data).with("weight '" + name + "'").status();
  weight.data = *data;
  matrices_[id.v] = weight;
  return weight;
}

Result<gpu::Weight> DeviceWeights::layer_matrix(graph::ValueId id, gpu::Element element) {
  const Weight* source = program_->weight(id);
  constexpr int64_t kF8Columns = 16;  // a row begins at 16 bytes
  if (!floats_as_f8_ || source == nullptr || !source->is_packed || !source->packed.layout.is_float() ||
      source->packed.layout.cols % kF8Columns != 0)
    return matrix(id, element);
  if (const auto it = f8_matrices_.find(id.v); it != f8_matrices_.end()) return it->second;
  NEREID_TRY(f8_matrices_[id.v], f8_matrix(source->packed).with("weight '" + program_->graph().value(id).name + "'"));
  return f8_matrices_[id.v];
}

// The largest of a row becomes the largest that f8 has.
Result<gpu::Weight> DeviceWeights::f8_matrix(const PackedWeight& w) {
  constexpr float kMostF8 = 448;
  const PackedLayout& l = w.layout;
  std::vector<float> factors(static_cast<size_t>(l.rows));
  gpu::Weight weight{.codes = gpu::Codes::kF8E4M3, .rows = l.rows, .cols = l.cols, .stride = l.cols};
  NEREID_TRY(weight.data, upload(l.rows, l.cols, [&](int64_t first, int64_t count, std::byte* dst) {
               std::vector<float> row(static_cast<size_t>(l.cols));
               for (int64_t r = first; r < first + count; ++r, dst += l.cols) {
                 kernels::unpack_row(w, r, row.data());
                 float most = 0;
                 for (const float v : row) most = std::max(most, std::abs(v));
                 const float factor = most > 0 ? most / kMostF8 : 1;
                 factors[static_cast<size_t>(r)] = factor;
                 for (float& v : row) v /= factor;
                 f32_to_f8e4m3(row, {reinterpret_cast<uint8_t*>(dst), row.size()});
               }
             }));
  NEREID_TRY(const std::byte* up, upload(1, l.rows * 4, [&](int64_t, int64_t, std::byte* dst) {
               std::memcpy(dst, factors.data(), factors.size() * 4);
             }));
  weight.row_scale = reinterpret_cast<const float*>(up);
  return weight;
}

Result<const float*> DeviceWeights::vector(graph::ValueId id) {
  if (!id.valid()) return nullptr;
  if (const auto it = vectors_.find(id.v); it != vectors_.end()) return it->second;
  const graph::Value& value = program_->graph().value(id);
  const float* data = program_->f32_constant(id);
  const std::optional<int64_t> elements = value.type.shape.elements();
  if (data == nullptr || !elements || *elements < 1) return unsupported("'{}' is no f32 constant", value.name);
  NEREID_TRY(std::byte * up, upload(1, *elements * 4, [&](int64_t, int64_t, std::byte* dst) {
               std::memcpy(dst, data, static_cast<size_t>(*elements) * 4);
             }));
  return vectors_[id.v] = reinterpret_cast<const float*>(up);
}

}  // namespace nereid::runtime
