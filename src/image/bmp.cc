// SPDX-License-Identifier: Apache-2.0
// BMP: Windows bitmaps of 1 to 32 bits a pixel, uncompressed or with bit masks; palettes of the core and info headers.
#include <algorithm>
#include <bit>

#include "image/codecs.h"

namespace nereid::image {
namespace {

struct Header {
  int64_t width = 0, height = 0;
  bool from_top = false;
  uint32_t bits = 0;
  size_t pixels = 0;                      // offset of the pixels
  size_t palette = 0, palette_entry = 4;  // offset, bytes an entry
  uint32_t colours = 0;
  uint32_t masks[3] = {0xff0000, 0xff00, 0xff};
};

constexpr uint32_t kPlain = 0, kBitFields = 3, kAlphaBitFields = 6;

Result<Header> read_header(Bytes file) {
  if (file.size() < 26) return damaged("BMP", "it ends in its header");
  Header h;
  h.pixels = little32(file, 10);
  const uint32_t size = little32(file, 14);
  if (size == 12) {
    h.width = little16(file, 18);
    h.height = little16(file, 20);
    h.bits = little16(file, 24);
    h.palette_entry = 3;
    h.colours = h.bits <= 8 ? 1U << h.bits : 0;
    h.palette = 26;
    return h;
  }
  if (size < 40 || file.size() < 14 + size_t{40}) return damaged("BMP", "its header is too short");
  h.width = static_cast<int32_t>(little32(file, 18));
  h.height = static_cast<int32_t>(little32(file, 22));
  h.from_top = h.height < 0;
  if (h.from_top) h.height = -h.height;
  h.bits = little16(file, 28);
  const uint32_t compression = little32(file, 30);
  h.colours = little32(file, 46);
  if (h.colours == 0 && h.bits <= 8) h.colours = 1U << h.bits;
  h.palette = 14 + size_t{size};
  if (h.bits == 16) {
    h.masks[0] = 0x7c00, h.masks[1] = 0x3e0, h.masks[2] = 0x1f;
  }
  if (compression == kBitFields || compression == kAlphaBitFields) {
    if (file.size() < 66) return damaged("BMP", "its bit masks are missing");
    for (size_t i = 0; i < 3; ++i) h.masks[i] = little32(file, 54 + 4 * i);
    if (size == 40) h.palette += compression == kBitFields ? 12 : 16;
  } else if (compression != kPlain) {
    return unsupported("run-length compression ({}) of BMP files is not read", compression);
  }
  return h;
}

// A field of a pixel brought to 8 bits.
uint8_t field(uint32_t pixel, uint32_t mask) {
  if (mask == 0) return 0;
  const int shift = std::countr_zero(mask);
  const uint64_t most = mask >> shift, value = (pixel & mask) >> shift;
  return static_cast<uint8_t>((value * 255 + most / 2) / most);
}

}  // namespace

Result<Image> decode_bmp(Bytes file) {
  NEREID_TRY(const Header h, read_header(file));
  if (h.bits != 1 && h.bits != 4 && h.bits != 8 && h.bits != 16 && h.bits != 24 && h.bits != 32)
    return damaged("BMP", "its pixels have an unknown number of bits");
  NEREID_TRY(Image image, blank(h.width, h.height));
  const size_t row = (static_cast<size_t>(h.width) * h.bits + 31) / 32 * 4;
  if (h.pixels > file.size() || row * static_cast<size_t>(h.height) > file.size() - h.pixels)
    return damaged("BMP", "it ends before its last pixel");
  if (h.bits <= 8 && (h.colours > 256 || h.palette + h.colours * h.palette_entry > file.size()))
    return damaged("BMP", "it ends in its palette");
  uint8_t* out = image.rgb.data();
  for (int64_t y = 0; y < h.height; ++y) {
    const Bytes line = file.subspan(h.pixels + static_cast<size_t>(h.from_top ? y : h.height - 1 - y) * row, row);
    for (size_t x = 0; x < static_cast<size_t>(h.width); ++x, out += 3) {
      if (h.bits <= 8) {
        const size_t bit = x * h.bits;
        const uint32_t i = line[bit / 8] >> (8 - h.bits - bit % 8) & ((1U << h.bits) - 1);
        if (i >= h.colours) return damaged("BMP", "a pixel has a colour that its palette has not");
        const uint8_t* entry = &file[h.palette + i * h.palette_entry];
        out[0] = entry[2], out[1] = entry[1], out[2] = entry[0];
      } else if (h.bits == 24) {
        out[0] = line[3 * x + 2], out[1] = line[3 * x + 1], out[2] = line[3 * x];
      } else {
        const uint32_t pixel = h.bits == 16 ? little16(line, 2 * x) : little32(line, 4 * x);
        for (int c = 0; c < 3; ++c) out[c] = field(pixel, h.masks[c]);
      }
    }
  }
  return image;
}

}  // namespace nereid::image
