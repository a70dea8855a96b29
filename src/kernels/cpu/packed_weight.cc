// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/packed_weight.h"

#include <algorithm>
#include <cstring>

#include "base/float_convert.h"
#include "quant/format_table.h"

namespace nereid::kernels {
namespace {

int64_t code_bytes(Codes codes, int64_t columns) {
  return columns * kTileRows / (codes == Codes::kCode4 ? 2 : 1);
}

// Finds row `row` of the concatenation; null past the end.
const std::byte* source_row(std::span<const ConstTensorView> parts, int64_t row) {
  for (const ConstTensorView& part : parts) {
    if (row < part.rows()) {
      const int64_t row_bytes = *dtype_bytes(part.dtype, part.row_elements());
      return static_cast<const std::byte*>(part.data) + row * row_bytes;
    }
    row -= part.rows();
  }
  return nullptr;
}

// One row's group form, padded to whole blocks of 64 columns with zero scales.
struct RowCodes {
  std::vector<uint8_t> codes;
  std::vector<float> scale, offset;

  RowCodes(const PackedLayout& l)
      : codes(static_cast<size_t>(l.padded_cols())),
        scale(static_cast<size_t>(l.padded_cols() / l.group)),
        offset(scale.size()) {}

  void read(const PackedLayout& l, DType dtype, const std::byte* row) {
    std::fill(codes.begin(), codes.end(), l.zero);
    std::fill(scale.begin(), scale.end(), 0.0f);
    std::fill(offset.begin(), offset.end(), 0.0f);
    if (row)
      quant::format(dtype).codes(row, l.cols, codes.data(), scale.data(), l.has_offset ? offset.data() : nullptr);
  }
};

void pack_codes_tile(const PackedLayout& l, std::span<const ConstTensorView> parts, int64_t tile, std::byte* dst,
                     std::vector<RowCodes>& rows) {
  const DType dtype = parts.front().dtype;
  for (int64_t r = 0; r < kTileRows; ++r)
    rows[static_cast<size_t>(r)].read(l, dtype, source_row(parts, tile * kTileRows + r));
  const int64_t groups = kBlockColumns / l.group;
  const int64_t header = groups * kTileRows * 2 * (l.has_offset ? 2 : 1);
  for (int64_t b = 0; b < l.blocks(); ++b, dst += l.block_bytes()) {
    auto* scales = reinterpret_cast<uint16_t*>(dst);
    auto* codes = reinterpret_cast<uint8_t*>(dst + header);
    for (int64_t r = 0; r < kTileRows; ++r) {
      const RowCodes& row = rows[static_cast<size_t>(r)];
      for (int64_t g = 0; g < groups; ++g) {
        const auto at = static_cast<size_t>(b * groups + g);
        scales[g * kTileRows + r] = f32_to_f16(row.scale[at]);
        if (l.has_offset) scales[(groups + g) * kTileRows + r] = f32_to_f16(row.offset[at]);
      }
      const uint8_t* c = row.codes.data() + b * kBlockColumns;
      if (l.codes == Codes::kCode4) {
        for (int64_t i = 0; i < kBlockColumns / 8; ++i)
          for (int64_t j = 0; j < 4; ++j)
            codes[i * 64 + r * 4 + j] = static_cast<uint8_t>(c[8 * i + j] | (c[8 * i + 4 + j] << 4));
      } else {
        for (int64_t i = 0; i < kBlockColumns / 4; ++i) std::memcpy(codes + i * 64 + r * 4, c + 4 * i, 4);
      }
    }
  }
}

// Any format, decoded: exact weights at four bytes each.
void pack_decoded_tile(const PackedLayout& l, std::span<const ConstTensorView> parts, int64_t tile, std::byte* dst) {
  const quant::Format& format = quant::format(parts.front().dtype);
  auto* out = reinterpret_cast<float*>(dst);
  std::vector<float> decoded(static_cast<size_t>(l.cols));
  for (int64_t r = 0; r < kTileRows; ++r) {
    const std::byte* row = source_row(parts, tile * kTileRows + r);
    if (row)
      format.decode(row, decoded.data(), l.cols);
    else
      std::fill(decoded.begin(), decoded.end(), 0.0f);
    for (int64_t k = 0; k < l.cols; ++k) out[k * kTileRows + r] = decoded[static_cast<size_t>(k)];
  }
}

template <typename T>
void pack_float_tile(const PackedLayout& l, std::span<const ConstTensorView> parts, int64_t tile, std::byte* dst) {
  auto* out = reinterpret_cast<T*>(dst);
  for (int64_t r = 0; r < kTileRows; ++r) {
    const std::byte* row = source_row(parts, tile * kTileRows + r);
    for (int64_t k = 0; k < l.cols; ++k) {
      T v{};
      if (row) std::memcpy(&v, row + k * static_cast<int64_t>(sizeof(T)), sizeof(T));
      out[k * kTileRows + r] = v;
    }
  }
}

}  // namespace

int64_t PackedLayout::block_bytes() const {
  return kBlockColumns / group * kTileRows * 2 * (has_offset ? 2 : 1) + code_bytes(codes, kBlockColumns);
}

int64_t PackedLayout::tile_bytes() const {
  if (!is_float()) return blocks() * block_bytes();
  const int64_t bytes = cols * kTileRows * (codes == Codes::kF32 ? 4 : 2);
  return (bytes + 63) & ~int64_t{63};
}

Status check_packed_size(int64_t rows, int64_t cols) {
  constexpr int64_t kMaxSize = int64_t{1} << 31, kMaxElements = int64_t{1} << 48;
  if (rows < 1 || cols < 1 || rows > kMaxSize || cols > kMaxSize || rows > kMaxElements / cols)
    return unsupported("a matrix of {} x {} elements cannot be packed", rows, cols);
  return Status::ok();
}

Result<PackedLayout> packed_layout(DType dtype, int64_t rows, int64_t cols) {
  NEREID_RETURN_IF_ERROR(check_packed_size(rows, cols));
  PackedLayout l{.rows = rows, .cols = cols};
  switch (dtype) {
    case DType::f32:
      l.codes = Codes::kF32;
      return l;
    case DType::f16:
      l.codes = Codes::kF16;
      return l;
    case DType::bf16:
      l.codes = Codes::kBF16;
      return l;
    default:
      break;
  }
  NEREID_TRY(const quant::Format* format, quant::find_format(dtype));
  if (!format->has_group_form())
    return unsupported("weights of dtype {} have no packed form; convert them to f16, bf16 or f32", dtype_name(dtype));
  const quant::GroupForm& form = format->form;
  l.codes = form.code_bits <= 4 ? Codes::kCode4 : form.code_bits <= 7 ? Codes::kCode7 : Codes::kCode8;
  l.group = static_cast<uint8_t>(form.group);
  l.has_offset = form.has_min;
  l.zero = static_cast<uint8_t>(form.zero);
  return l;
}

void pack_tiles(const PackedLayout& l, std::span<const ConstTensorView> parts, int64_t first_tile, int64_t tile_count,
                std::byte* dst) {
  std::vector<RowCodes> rows;
  if (!l.is_float()) rows.assign(kTileRows, RowCodes(l));
  for (int64_t t = first_tile; t < first_tile + tile_count; ++t, dst += l.tile_bytes()) {
    switch (l.codes) {
      case Codes::kF32:
        if (parts.front().dtype == DType::f32)
          pack_float_tile<uint32_t>(l, parts, t, dst);
        else
          pack_decoded_tile(l, parts, t, dst);
        break;
      case Codes::kF16:
      case Codes::kBF16:
        pack_float_tile<uint16_t>(l, parts, t, dst);
        break;
      default:
        pack_codes_tile(l, parts, t, dst, rows);
    }
  }
}

void unpack_row(const PackedWeight& w, int64_t row, float* dst) {
  const PackedLayout& l = w.layout;
  const std::byte* tile = w.tile(row / kTileRows);
  const int64_t r = row % kTileRows;
  if (l.codes == Codes::kF32) {
    for (int64_t k = 0; k < l.cols; ++k) dst[k] = reinterpret_cast<const float*>(tile)[k * kTileRows + r];
    return;
  }
  if (l.is_float()) {
    const auto* p = reinterpret_cast<const uint16_t*>(tile);
    for (int64_t k = 0; k < l.cols; ++k)
      dst[k] = l.codes == Codes::kF16 ? f16_to_f32(p[k * kTileRows + r]) : bf16_to_f32(p[k * kTileRows + r]);
    return;
  }
  const int64_t groups = kBlockColumns / l.group;
  const int64_t header = groups * kTileRows * 2 * (l.has_offset ? 2 : 1);
  for (int64_t k = 0; k < l.cols; ++k) {
    const std::byte* block = tile + k / kBlockColumns * l.block_bytes();
    const auto* scales = reinterpret_cast<const uint16_t*>(block);
    const auto* codes = reinterpret_cast<const uint8_t*>(block + header);
    const int64_t c = k % kBlockColumns;
    const int64_t g = c / l.group;
    const float scale = f16_to_f32(scales[g * kTileRows + r]);
    int code;
    if (l.codes == Codes::kCode4) {
      const uint8_t byte = codes[c / 8 * 64 + r * 4 + c % 4];
      code = c % 8 < 4 ? byte & 15 : byte >> 4;
    } else {
      code = codes[c / 4 * 64 + r * 4 + c % 4];
    }
    dst[k] = scale * static_cast<float>(code - l.zero);
    if (l.has_offset) dst[k] += f16_to_f32(scales[(groups + g) * kTileRows + r]);
  }
}

}  // namespace nereid::kernels
