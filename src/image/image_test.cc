// SPDX-License-Identifier: Apache-2.0
// Images: tiny files written out by hand, and files that are damaged.
#include "image/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace nereid::image {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Bytes = std::vector<uint8_t>;

Bytes text(const std::string& s) {
  return {s.begin(), s.end()};
}
void append(Bytes& to, const Bytes& more) {
  to.insert(to.end(), more.begin(), more.end());
}
Bytes big(uint32_t v) {
  return {static_cast<uint8_t>(v >> 24), static_cast<uint8_t>(v >> 16), static_cast<uint8_t>(v >> 8),
          static_cast<uint8_t>(v)};
}
Bytes little(uint32_t v, int bytes = 4) {
  Bytes out;
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<uint8_t>(v >> (8 * i)));
  return out;
}

std::vector<uint8_t> pixels(const Bytes& file) {
  auto image = decode(file);
  EXPECT_TRUE(image.is_ok()) << image.status().message();
  return image.is_ok() ? image->rgb : Bytes();
}
std::string refusal(const Bytes& file) {
  auto image = decode(file);
  EXPECT_FALSE(image.is_ok());
  return image.status().message();
}

Bytes bmp(int32_t width, int32_t height, uint16_t bits, const Bytes& palette, const Bytes& rows) {
  Bytes file = text("BM");
  append(file, little(0));
  append(file, little(0));
  append(file, little(static_cast<uint32_t>(54 + palette.size())));
  append(file, little(40));
  append(file, little(static_cast<uint32_t>(width)));
  append(file, little(static_cast<uint32_t>(height)));
  append(file, little(1, 2));
  append(file, little(bits, 2));
  for (int i = 0; i < 6; ++i) append(file, little(i == 4 ? static_cast<uint32_t>(palette.size() / 4) : 0));
  append(file, palette);
  append(file, rows);
  return file;
}

TEST(Bmp, has_its_rows_from_the_bottom_and_blue_first) {
  EXPECT_THAT(pixels(bmp(1, 2, 24, {}, {3, 2, 1, 0, 6, 5, 4, 0})), ElementsAre(4, 5, 6, 1, 2, 3));
  EXPECT_THAT(pixels(bmp(1, -2, 24, {}, {3, 2, 1, 0, 6, 5, 4, 0})), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(pixels(bmp(2, 1, 4, {0, 0, 0, 0, 9, 8, 7, 0}, {0x10, 0, 0, 0})), ElementsAre(7, 8, 9, 0, 0, 0));
  EXPECT_THAT(pixels(bmp(1, 1, 16, {}, {0xff, 0x7f, 0, 0})), ElementsAre(255, 255, 255));
}

TEST(Bmp, refuses_what_is_damaged) {
  EXPECT_THAT(refusal(bmp(2, 2, 24, {}, {0, 0, 0, 0})), HasSubstr("ends before its last pixel"));
  EXPECT_THAT(refusal(bmp(0, 2, 24, {}, {})), HasSubstr("0 x 2"));
  EXPECT_THAT(refusal(bmp(0x7fffffff, 0x7fffffff, 24, {}, {})), HasSubstr("its size"));
  EXPECT_THAT(refusal(bmp(1, 1, 8, {0, 0, 0, 0}, {1, 0, 0, 0})), HasSubstr("palette has not"));
  EXPECT_THAT(refusal(bmp(1, 1, 7, {}, {0, 0, 0, 0})), HasSubstr("unknown number of bits"));
  EXPECT_THAT(refusal(text("BM")), HasSubstr("ends in its header"));
}

TEST(Pnm, is_text_or_bytes) {
  EXPECT_THAT(pixels(text("P3 # a comment\n1 2\n255\n1 2 3  4 5 6")), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(pixels(text("P6\n1 1\n255\nabc")), ElementsAre('a', 'b', 'c'));
  EXPECT_THAT(pixels(text("P2 2 1 3 0 3")), ElementsAre(0, 0, 0, 255, 255, 255));
  EXPECT_THAT(pixels(text("P1 2 1 10")), ElementsAre(0, 0, 0, 255, 255, 255));
  EXPECT_THAT(pixels(text("P4 2 1\n\x80")), ElementsAre(0, 0, 0, 255, 255, 255));
  EXPECT_THAT(pixels(text("P5 1 1 65535\n\x80y")), ElementsAre(128, 128, 128));
}

TEST(Pnm, refuses_what_is_damaged) {
  EXPECT_THAT(refusal(text("P6\n2 2\n255\nabc")), HasSubstr("ends before"));
  EXPECT_THAT(refusal(text("P6\n99999999999 2\n255\n")), HasSubstr("its size"));
  EXPECT_THAT(refusal(text("P2 1 1 3 4")), HasSubstr("above the largest"));
  EXPECT_THAT(refusal(text("P2 1 1 0 0")), HasSubstr("largest value"));
  EXPECT_THAT(refusal(text("P5")), HasSubstr("its size"));
}

Bytes chunk(const std::string& type, const Bytes& body) {
  Bytes out = big(static_cast<uint32_t>(body.size()));
  append(out, text(type));
  append(out, body);
  append(out, big(0));
  return out;
}
Bytes deflated(const Bytes& data) {
  uLongf size = compressBound(static_cast<uLong>(data.size()));
  Bytes out(size);
  EXPECT_EQ(compress(out.data(), &size, data.data(), static_cast<uLong>(data.size())), Z_OK);
  out.resize(size);
  return out;
}
Bytes png(uint32_t width, uint32_t height, uint8_t bits, uint8_t colour, const Bytes& rows, bool interlaced = false,
          const Bytes& palette = {}) {
  Bytes file = text("\x89PNG\r\n\x1a\n"), header = big(width);
  append(header, big(height));
  append(header, {bits, colour, 0, 0, static_cast<uint8_t>(interlaced)});
  append(file, chunk("IHDR", header));
  if (!palette.empty()) append(file, chunk("PLTE", palette));
  append(file, chunk("IDAT", deflated(rows)));
  append(file, chunk("IEND", {}));
  return file;
}

TEST(Png, undoes_every_filter) {
  // Rows of two gray pixels: as they are, left, up, mean, Paeth.
  EXPECT_THAT(pixels(png(2, 5, 8, 0, {0, 10, 20, 1, 10, 10, 2, 1, 1, 3, 5, 5, 4, 1, 2})),
              ElementsAre(10, 10, 10, 20, 20, 20, 10, 10, 10, 20, 20, 20, 11, 11, 11, 21, 21, 21, 10, 10, 10, 20, 20,
                          20, 11, 11, 11, 22, 22, 22));
}

TEST(Png, knows_colours_and_depths) {
  EXPECT_THAT(pixels(png(1, 1, 8, 2, {0, 1, 2, 3})), ElementsAre(1, 2, 3));
  EXPECT_THAT(pixels(png(1, 1, 8, 6, {0, 1, 2, 3, 4})), ElementsAre(1, 2, 3));
  EXPECT_THAT(pixels(png(1, 1, 16, 0, {0, 7, 8})), ElementsAre(7, 7, 7));
  EXPECT_THAT(pixels(png(2, 1, 1, 0, {0, 0x40})), ElementsAre(0, 0, 0, 255, 255, 255));
  EXPECT_THAT(pixels(png(2, 1, 4, 3, {0, 0x10}, false, {1, 2, 3, 4, 5, 6})), ElementsAre(4, 5, 6, 1, 2, 3));
}

TEST(Png, comes_in_passes) {
  // 2 x 2: the first pass has the first pixel, the sixth the second, the seventh the row below.
  EXPECT_THAT(pixels(png(2, 2, 8, 0, {0, 1, 0, 2, 0, 3, 4}, true)), ElementsAre(1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4));
}

TEST(Png, refuses_what_is_damaged) {
  EXPECT_THAT(refusal(png(2, 2, 8, 0, {0, 1, 2})), HasSubstr("compressed data end"));
  EXPECT_THAT(refusal(png(1, 1, 8, 0, {9, 1})), HasSubstr("unknown filter"));
  EXPECT_THAT(refusal(png(1, 1, 3, 0, {0, 1})), HasSubstr("do not go together"));
  EXPECT_THAT(refusal(png(1, 1, 8, 3, {0, 1}, false, {1, 2, 3})), HasSubstr("palette has not"));
  EXPECT_THAT(refusal(png(100000, 2000, 8, 0, {0})), HasSubstr("too little data"));
  EXPECT_THAT(refusal(png(0x7fffffff, 0x7fffffff, 8, 0, {0})), HasSubstr("its size"));
  Bytes cut = png(1, 1, 8, 0, {0, 1});
  cut[8] = 0x7f;
  EXPECT_THAT(refusal(cut), HasSubstr("a chunk ends behind the file"));
}

struct Entry {
  uint16_t tag;
  uint32_t value;
};
Bytes tiff(std::vector<Entry> entries, const Bytes& data) {
  Bytes file = text(std::string("II*\0", 4));
  append(file, little(8));
  const uint32_t offset = static_cast<uint32_t>(8 + 2 + 12 * (entries.size() + 2) + 4);
  entries.push_back({273, offset});
  entries.push_back({279, static_cast<uint32_t>(data.size())});
  append(file, little(static_cast<uint32_t>(entries.size()), 2));
  for (const Entry& e : entries) {
    append(file, little(e.tag, 2));
    append(file, little(4, 2));
    append(file, little(1));
    append(file, little(e.value));
  }
  append(file, little(0));
  append(file, data);
  return file;
}

TEST(Tiff, holds_strips_however_compressed) {
  const std::vector<Entry> gray = {{256, 4}, {257, 1}, {258, 8}, {262, 1}};
  const auto with = [&](std::vector<Entry> more) {
    more.insert(more.begin(), gray.begin(), gray.end());
    return more;
  };
  const auto expected = ElementsAre(5, 5, 5, 5, 5, 5, 5, 5, 5, 9, 9, 9);
  EXPECT_THAT(pixels(tiff(gray, {5, 5, 5, 9})), expected);
  EXPECT_THAT(pixels(tiff(with({{259, 32773}}), {0xfe, 5, 0, 9})), expected);
  EXPECT_THAT(pixels(tiff(with({{259, 8}}), deflated({5, 5, 5, 9}))), expected);
  EXPECT_THAT(pixels(tiff(with({{259, 8}, {317, 2}}), deflated({5, 0, 0, 4}))), expected);
  // LZW codes of 9 bits: clear, 5, 258 (5 5), 9, end.
  EXPECT_THAT(pixels(tiff(with({{259, 5}}), {0x80, 0x01, 0x60, 0x40, 0x98, 0x08})), expected);
}

TEST(Tiff, knows_colours) {
  EXPECT_THAT(pixels(tiff({{256, 1}, {257, 1}, {258, 8}, {262, 2}, {277, 3}}, {1, 2, 3})), ElementsAre(1, 2, 3));
  EXPECT_THAT(pixels(tiff({{256, 2}, {257, 1}, {258, 1}, {262, 0}}, {0x40})), ElementsAre(255, 255, 255, 0, 0, 0));
}

TEST(Tiff, refuses_what_is_damaged) {
  EXPECT_THAT(refusal(tiff({{256, 4}, {257, 1}, {258, 8}, {262, 1}}, {5})), HasSubstr("ends before its last pixel"));
  EXPECT_THAT(refusal(tiff({{256, 4}, {257, 1}, {258, 8}, {262, 1}, {259, 7}}, {5})), HasSubstr("compression 7"));
  EXPECT_THAT(refusal(tiff({{256, 4}, {257, 1}, {258, 8}, {262, 2}}, {5})), HasSubstr("fewer than 3 samples"));
  EXPECT_THAT(refusal(tiff({{256, 4}, {257, 1}, {258, 8}, {262, 6}}, {5})), HasSubstr("are not read"));
  EXPECT_THAT(refusal(text(std::string("II*\0\xff\xff\xff\x7f", 8))), HasSubstr("behind its end"));
}

TEST(Decode, says_what_it_does_not_know) {
  EXPECT_THAT(refusal(text("GIF89a")), HasSubstr("begin like no image of a known format"));
  EXPECT_THAT(refusal({}), HasSubstr("the 0 bytes"));
  // Damaged, or of a library that is not there: a sentence either way.
  EXPECT_FALSE(refusal(text("\xff\xd8\xff\xe0 no JPEG")).empty());
  EXPECT_FALSE(refusal(text("RIFF\1\1\1\1WEBPVP8 ")).empty());
  EXPECT_FALSE(refusal(text("\xff\x4f\xff\x51 no JPEG 2000")).empty());
}

TEST(Gray, weighs_colours) {
  EXPECT_THAT(to_gray({.width = 3, .height = 1, .rgb = {255, 0, 0, 0, 255, 0, 0, 0, 255}}), ElementsAre(76, 150, 29));
}

}  // namespace
}  // namespace nereid::image
