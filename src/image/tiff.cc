// SPDX-License-Identifier: Apache-2.0
// TIFF 6.0: the first image of a file, in strips or tiles; gray, RGB or palette of 1 to 16 bits a sample; uncompressed,
// PackBits, LZW or deflate, with the horizontal predictor.
#include <algorithm>
#include <array>
#include <map>

#include "image/codecs.h"

namespace nereid::image {
namespace {

enum Tag : uint32_t {
  kWidth = 256,
  kHeight = 257,
  kBits = 258,
  kCompression = 259,
  kPhotometric = 262,
  kStripOffsets = 273,
  kSamples = 277,
  kRowsPerStrip = 278,
  kStripBytes = 279,
  kPlanar = 284,
  kPredictor = 317,
  kColorMap = 320,
  kTileWidth = 322,
  kTileHeight = 323,
  kTileOffsets = 324,
  kTileBytes = 325,
  kSampleFormat = 339,
};

// Numbers in the file's order of bytes; offsets are checked by the caller.
struct File {
  Bytes bytes;
  bool big = false;
  uint32_t u16(size_t at) const { return big ? big16(bytes, at) : little16(bytes, at); }
  uint32_t u32(size_t at) const { return big ? big32(bytes, at) : little32(bytes, at); }
};

using Tags = std::map<uint32_t, std::vector<uint32_t>>;

Result<Tags> read_tags(const File& file) {
  const size_t size = file.bytes.size();
  const size_t first = size >= 8 ? file.u32(4) : size;
  if (first > size || size - first < 2) return damaged("TIFF", "its directory lies behind its end");
  const size_t count = file.u16(first);
  if (size - first < 2 + 12 * count) return damaged("TIFF", "it ends in its directory");
  Tags tags;
  for (size_t i = 0; i < count; ++i) {
    const size_t at = first + 2 + 12 * i;
    const uint32_t tag = file.u16(at), type = file.u16(at + 2);
    const size_t n = file.u32(at + 4);
    const size_t width = type == 1 ? 1 : type == 3 ? 2 : type == 4 ? 4 : 0;
    if (width == 0 || n == 0) continue;  // texts and fractions do not matter
    if (n > size / width) return damaged("TIFF", "a list in its directory is longer than the file");
    size_t from = at + 8;
    if (n * width > 4) from = file.u32(at + 8);
    if (from > size || n * width > size - from) return damaged("TIFF", "a list of its directory lies behind its end");
    std::vector<uint32_t>& list = tags[tag];
    list.clear();
    for (size_t k = 0; k < n; ++k)
      list.push_back(width == 1 ? file.bytes[from + k] : width == 2 ? file.u16(from + 2 * k) : file.u32(from + 4 * k));
  }
  return tags;
}

uint32_t one(const Tags& tags, Tag tag, uint32_t fallback) {
  const auto it = tags.find(tag);
  return it == tags.end() ? fallback : it->second[0];
}

Status too_short() {
  return damaged("TIFF", "a piece of it ends before its last pixel");
}

Result<std::vector<uint8_t>> unpack_bits(Bytes in, size_t size) {
  std::vector<uint8_t> out;
  out.reserve(size);
  for (size_t i = 0; i < in.size() && out.size() < size;) {
    const int head = static_cast<int8_t>(in[i++]);
    if (head >= 0) {
      const size_t n = std::min<size_t>(static_cast<size_t>(head) + 1, in.size() - i);
      out.insert(out.end(), in.begin() + static_cast<ptrdiff_t>(i), in.begin() + static_cast<ptrdiff_t>(i + n));
      i += n;
    } else if (head != -128 && i < in.size()) {
      out.insert(out.end(), static_cast<size_t>(1 - head), in[i++]);
    }
  }
  if (out.size() < size) return too_short();
  return out;
}

Result<std::vector<uint8_t>> unpack_lzw(Bytes in, size_t size) {
  constexpr uint32_t kClear = 256, kEnd = 257;
  std::array<uint16_t, 4096> before{};  // the string without its last byte
  std::array<uint8_t, 4096> last{};
  std::vector<uint8_t> out, word;
  out.reserve(size);
  uint32_t next = 258, width = 9, previous = kClear;
  size_t bit = 0;
  while (out.size() < size && bit + width <= in.size() * 8) {
    uint32_t code = 0;
    for (uint32_t k = 0; k < width; ++k, ++bit) code = code << 1 | (in[bit / 8] >> (7 - bit % 8) & 1U);
    if (code == kEnd) break;
    if (code == kClear) {
      next = 258, width = 9, previous = kClear;
      continue;
    }
    if (code > next || (code == next && previous == kClear)) return damaged("TIFF", "its LZW codes make no strings");
    // The string of the code, or of the one before with its own first byte.
    word.clear();
    uint32_t at = code == next ? previous : code;
    for (; at > kEnd; at = before[at]) word.push_back(last[at]);
    word.push_back(static_cast<uint8_t>(at));
    const uint8_t first = word.back();
    std::ranges::reverse(word);
    if (code == next) word.push_back(first);
    out.insert(out.end(), word.begin(), word.end());
    if (previous != kClear && next < 4096) {
      before[next] = static_cast<uint16_t>(previous);
      last[next++] = first;
    }
    previous = code;
    // Codes grow one early, as they always did in this format.
    width = next >= 2047 ? 12 : next >= 1023 ? 11 : next >= 511 ? 10 : 9;
  }
  if (out.size() < size) return too_short();
  return out;
}

struct Layout {
  uint32_t width, height, bits, samples, photometric, compression, predictor;
  bool planar;
  uint32_t piece_width, piece_height;  // of a strip or a tile
  size_t row_bytes(size_t in_piece) const { return (piece_width * in_piece * bits + 7) / 8; }
};

Result<Layout> read_layout(const Tags& tags) {
  Layout l{.width = one(tags, kWidth, 0),
           .height = one(tags, kHeight, 0),
           .bits = one(tags, kBits, 1),
           .samples = one(tags, kSamples, 1),
           .photometric = one(tags, kPhotometric, 1),
           .compression = one(tags, kCompression, 1),
           .predictor = one(tags, kPredictor, 1),
           .planar = one(tags, kPlanar, 1) == 2,
           .piece_width = one(tags, kTileWidth, one(tags, kWidth, 0)),
           .piece_height = one(tags, kTileHeight, one(tags, kRowsPerStrip, one(tags, kHeight, 0)))};
  if (!tags.contains(kTileWidth)) l.piece_height = std::min(l.piece_height, l.height);
  const bool known_bits = l.bits == 1 || l.bits == 2 || l.bits == 4 || l.bits == 8 || l.bits == 16;
  if (!known_bits || l.photometric > 3 || l.samples < 1 || l.samples > 16 || one(tags, kSampleFormat, 1) != 1)
    return unsupported("TIFF images of photometric interpretation {} with {} samples of {} bits are not read",
                       l.photometric, l.samples, l.bits);
  if (l.photometric == 2 && l.samples < 3) return damaged("TIFF", "an RGB image has fewer than 3 samples a pixel");
  if (l.predictor > 2 || (l.predictor == 2 && l.bits < 8))
    return unsupported("the predictor {} for samples of {} bits is not read", l.predictor, l.bits);
  if (l.piece_width == 0 || l.piece_height == 0 || l.piece_width > (1U << 28) || l.piece_height > (1U << 28))
    return damaged("TIFF", "its strips or tiles have no size");
  return l;
}

Result<std::vector<uint8_t>> unpack(const Layout& l, Bytes in, size_t size) {
  if (size / 4000 > in.size()) return too_short();
  switch (l.compression) {
    case 1:
      if (in.size() < size) return too_short();
      return std::vector<uint8_t>(in.begin(), in.begin() + static_cast<ptrdiff_t>(size));
    case 5:
      return unpack_lzw(in, size);
    case 8:
    case 32946:
      return inflate_exactly(in, size);
    case 32773:
      return unpack_bits(in, size);
    default:
      return unsupported("compression {} of TIFF files is not read", l.compression);
  }
}

// Rows of a piece that hold differences hold values afterwards.
void undo_predictor(const Layout& l, const File& file, size_t in_piece, std::vector<uint8_t>& data) {
  const size_t row = l.row_bytes(in_piece), samples = l.piece_width * in_piece;
  for (size_t at = 0; at + row <= data.size(); at += row)
    for (size_t i = in_piece; i < samples; ++i) {
      if (l.bits == 8) {
        data[at + i] = static_cast<uint8_t>(data[at + i] + data[at + i - in_piece]);
        continue;
      }
      const File here{data, file.big};
      const uint32_t sum = here.u16(at + 2 * i) + here.u16(at + 2 * (i - in_piece));
      data[at + 2 * i + (file.big ? 1 : 0)] = static_cast<uint8_t>(sum);
      data[at + 2 * i + (file.big ? 0 : 1)] = static_cast<uint8_t>(sum >> 8);
    }
}

}  // namespace

Result<Image> decode_tiff(Bytes bytes) {
  const File file{bytes, bytes[0] == 'M'};
  NEREID_TRY(const Tags tags, read_tags(file));
  NEREID_TRY(const Layout l, read_layout(tags));
  NEREID_RETURN_IF_ERROR(check_size(l.width, l.height));
  // No compression here is better than 1 to 4000.
  if (size_t{l.width} * l.height * l.bits / 8 / 4000 > bytes.size()) return too_short();
  NEREID_TRY(Image image, blank(l.width, l.height));
  const bool tiled = tags.contains(kTileWidth);
  const Tag offsets_tag = tiled ? kTileOffsets : kStripOffsets, bytes_tag = tiled ? kTileBytes : kStripBytes;
  if (!tags.contains(offsets_tag)) return damaged("TIFF", "it does not say where its pixels are");
  const std::vector<uint32_t>& offsets = tags.at(offsets_tag);
  std::vector<uint32_t> sizes = tags.contains(bytes_tag) ? tags.at(bytes_tag) : std::vector<uint32_t>();
  if (sizes.empty()) sizes.assign(offsets.size(), static_cast<uint32_t>(bytes.size()));
  const size_t across = (l.width + l.piece_width - 1) / l.piece_width;
  const size_t down = (l.height + l.piece_height - 1) / l.piece_height;
  const size_t planes = l.planar ? l.samples : 1, in_piece = l.planar ? 1 : l.samples;
  if (offsets.size() < across * down * planes || sizes.size() < offsets.size())
    return damaged("TIFF", "some of its strips or tiles are missing");
  const std::vector<uint32_t> map = tags.contains(kColorMap) ? tags.at(kColorMap) : std::vector<uint32_t>();
  const size_t colours = size_t{1} << l.bits;
  if (l.photometric == 3 && map.size() < 3 * colours) return damaged("TIFF", "its palette is missing");
  const uint32_t most = static_cast<uint32_t>(colours - 1);

  for (size_t piece = 0; piece < across * down * planes; ++piece) {
    const size_t plane = piece / (across * down), place = piece % (across * down);
    if (plane >= 3) break;  // alpha
    const size_t x0 = place % across * l.piece_width, y0 = place / across * l.piece_height;
    // Tiles are whole; the last strip has the rows that are left.
    const size_t rows = std::min<size_t>(l.piece_height, l.height - y0),
                 columns = std::min<size_t>(l.piece_width, l.width - x0);
    const size_t row = l.row_bytes(in_piece);
    if (offsets[piece] > bytes.size()) return too_short();
    const Bytes packed = bytes.subspan(offsets[piece], std::min<size_t>(sizes[piece], bytes.size() - offsets[piece]));
    NEREID_TRY(std::vector<uint8_t> data, unpack(l, packed, rows * row));
    if (l.predictor == 2) undo_predictor(l, file, in_piece, data);
    const File here{data, file.big};
    const auto value = [&](size_t y, size_t i) -> uint32_t {
      if (l.bits == 16) return here.u16(y * row + 2 * i);
      const size_t bit = i * l.bits;
      return data[y * row + bit / 8] >> (8 - l.bits - bit % 8) & most;
    };
    for (size_t y = 0; y < rows; ++y)
      for (size_t x = 0; x < columns; ++x) {
        uint8_t* out = &image.rgb[3 * ((y0 + y) * l.width + x0 + x)];
        for (size_t c = 0; c < 3; ++c) {
          const bool rgb = l.photometric == 2;
          if (l.planar && rgb && c != plane) continue;
          const uint32_t v = value(y, x * in_piece + (rgb && !l.planar ? c : 0));
          uint32_t eight = l.bits == 16 ? v >> 8 : v * 255 / most;
          if (l.photometric == 0) eight = 255 - eight;
          if (l.photometric == 3) eight = map[c * colours + v] >> 8;
          if (!l.planar || rgb || plane == 0) out[c] = static_cast<uint8_t>(eight);
        }
      }
  }
  return image;
}

}  // namespace nereid::image
