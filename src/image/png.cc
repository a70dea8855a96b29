// SPDX-License-Identifier: Apache-2.0
// PNG (ISO/IEC 15948): all colour types and depths, interlaced too. Checksums are left to zlib's own.
#include <cstdlib>
#include <cstring>

#include "image/codecs.h"

namespace nereid::image {
namespace {

enum Colour : uint8_t { kGray = 0, kRgb = 2, kPalette = 3, kGrayAlpha = 4, kRgbAlpha = 6 };

struct Png {
  uint32_t width = 0, height = 0;
  uint32_t bits = 0;  // a sample
  uint8_t colour = 0;
  bool interlaced = false;
  std::vector<uint8_t> palette;
  std::vector<uint8_t> data;  // compressed

  size_t samples() const { return colour == kRgb ? 3 : colour == kRgbAlpha ? 4 : colour == kGrayAlpha ? 2 : 1; }
  size_t row_bytes(uint32_t columns) const { return (size_t{columns} * samples() * bits + 7) / 8; }
};

Result<Png> read_chunks(Bytes file) {
  Png png;
  for (size_t at = 8; at + 12 <= file.size();) {
    const size_t size = big32(file, at);
    if (size > file.size() - at - 12) return damaged("PNG", "a chunk ends behind the file");
    const std::string_view type(reinterpret_cast<const char*>(&file[at + 4]), 4);
    const Bytes body = file.subspan(at + 8, size);
    if (type == "IHDR") {
      if (size < 13) return damaged("PNG", "its header is too short");
      png.width = big32(body, 0);
      png.height = big32(body, 4);
      png.bits = body[8];
      png.colour = body[9];
      png.interlaced = body[12] == 1;
    } else if (type == "PLTE") {
      png.palette.assign(body.begin(), body.end());
    } else if (type == "IDAT") {
      png.data.insert(png.data.end(), body.begin(), body.end());
    } else if (type == "IEND") {
      break;
    }
    at += size + 12;
  }
  const bool deep = png.bits == 8 || png.bits == 16, shallow = png.bits == 1 || png.bits == 2 || png.bits == 4;
  const bool fits = (png.colour == kGray && (deep || shallow)) ||
                    (png.colour == kPalette && (shallow || png.bits == 8)) ||
                    ((png.colour == kRgb || png.colour == kGrayAlpha || png.colour == kRgbAlpha) && deep);
  if (!fits) return damaged("PNG", "its colour type and depth do not go together");
  return png;
}

uint8_t paeth(uint8_t left, uint8_t up, uint8_t corner) {
  const int p = left + up - corner;
  const int a = std::abs(p - left), b = std::abs(p - up), c = std::abs(p - corner);
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

// Undoes a row's filter. `above` is the row before, zeros for the first.
bool unfilter(uint8_t filter, std::span<uint8_t> row, const uint8_t* above, size_t step) {
  for (size_t i = 0; i < row.size(); ++i) {
    const uint8_t left = i >= step ? row[i - step] : uint8_t{0}, corner = i >= step ? above[i - step] : uint8_t{0};
    uint8_t add = 0;
    switch (filter) {
      case 0:
        break;
      case 1:
        add = left;
        break;
      case 2:
        add = above[i];
        break;
      case 3:
        add = static_cast<uint8_t>((left + above[i]) / 2);
        break;
      case 4:
        add = paeth(left, above[i], corner);
        break;
      default:
        return false;
    }
    row[i] = static_cast<uint8_t>(row[i] + add);
  }
  return true;
}

// Sample i of a row, 8 bits of it: the upper ones of 16; palette indices as they are.
uint32_t sample(const Png& png, const uint8_t* row, size_t i) {
  if (png.bits == 8) return row[i];
  if (png.bits == 16) return row[2 * i];
  const size_t bit = i * png.bits;
  const uint32_t most = (1U << png.bits) - 1, value = row[bit / 8] >> (8 - png.bits - bit % 8) & most;
  return png.colour == kPalette ? value : value * 255 / most;
}

struct Pass {
  uint32_t x, y, dx, dy;
  uint32_t columns(const Png& p) const { return p.width > x ? (p.width - x + dx - 1) / dx : 0; }
  uint32_t rows(const Png& p) const { return p.height > y ? (p.height - y + dy - 1) / dy : 0; }
};
constexpr Pass kWhole[] = {{0, 0, 1, 1}};
constexpr Pass kAdam7[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                           {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};

}  // namespace

Result<Image> decode_png(Bytes file) {
  NEREID_TRY(const Png png, read_chunks(file));
  NEREID_RETURN_IF_ERROR(check_size(png.width, png.height));
  const std::span<const Pass> passes = png.interlaced ? std::span<const Pass>(kAdam7) : std::span<const Pass>(kWhole);
  size_t size = 0;
  for (const Pass& p : passes)
    if (p.columns(png) > 0) size += p.rows(png) * (png.row_bytes(p.columns(png)) + 1);
  // What the file holds bounds what it can unpack to: deflate does not shrink below a thousandth.
  if (size / 1100 > png.data.size() + 64) return damaged("PNG", "it holds too little data for its size");
  NEREID_TRY(std::vector<uint8_t> data, inflate_exactly(png.data, size));
  NEREID_TRY(Image image, blank(png.width, png.height));
  const size_t step = (png.samples() * png.bits + 7) / 8;
  const std::vector<uint8_t> zeros(png.row_bytes(png.width), 0);
  size_t at = 0;
  for (const Pass& p : passes) {
    const uint32_t columns = p.columns(png);
    if (columns == 0) continue;
    const uint8_t* above = zeros.data();
    for (uint32_t r = 0; r < p.rows(png); ++r) {
      const std::span<uint8_t> row(data.data() + at + 1, png.row_bytes(columns));
      if (!unfilter(data[at], row, above, step)) return damaged("PNG", "a row has an unknown filter");
      for (uint32_t c = 0; c < columns; ++c) {
        uint8_t* out = &image.rgb[3 * ((p.y + size_t{r} * p.dy) * png.width + p.x + size_t{c} * p.dx)];
        const size_t first = c * png.samples();
        if (png.colour == kPalette) {
          const size_t entry = 3 * size_t{sample(png, row.data(), first)};
          if (entry + 3 > png.palette.size()) return damaged("PNG", "a pixel has a colour that its palette has not");
          std::memcpy(out, &png.palette[entry], 3);
        } else {
          const bool rgb = png.colour == kRgb || png.colour == kRgbAlpha;
          for (size_t k = 0; k < 3; ++k) out[k] = static_cast<uint8_t>(sample(png, row.data(), first + (rgb ? k : 0)));
        }
      }
      above = row.data();
      at += row.size() + 1;
    }
  }
  return image;
}

}  // namespace nereid::image
