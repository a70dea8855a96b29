// SPDX-License-Identifier: Apache-2.0
// Which decoder a file is for.
#include "image/image.h"

#include <zlib.h>

#include <algorithm>

#include "image/codecs.h"

namespace nereid::image {
namespace {

struct Format {
  std::string_view name;
  std::string_view magic;  // '?' stands for any byte
  Result<Image> (*decode)(Bytes);
};

constexpr Format kFormats[] = {
    {"BMP", "BM", decode_bmp},
    {"JPEG", "\xff\xd8\xff", decode_jpeg},
    {"JPEG 2000", {"\0\0\0\x0cjP  ", 8}, decode_jpeg2000},
    {"JPEG 2000", "\xff\x4f\xff\x51", decode_jpeg2000},
    {"PNG", "\x89PNG\r\n\x1a\n", decode_png},
    {"PNM", "P1", decode_pnm},
    {"PNM", "P2", decode_pnm},
    {"PNM", "P3", decode_pnm},
    {"PNM", "P4", decode_pnm},
    {"PNM", "P5", decode_pnm},
    {"PNM", "P6", decode_pnm},
    {"TIFF", {"II*\0", 4}, decode_tiff},
    {"TIFF", {"MM\0*", 4}, decode_tiff},
    {"WebP", "RIFF????WEBP", decode_webp},
};

bool begins_with(Bytes file, std::string_view magic) {
  if (file.size() < magic.size()) return false;
  for (size_t i = 0; i < magic.size(); ++i)
    if (magic[i] != '?' && file[i] != static_cast<uint8_t>(magic[i])) return false;
  return true;
}

}  // namespace

Result<Image> decode(Bytes file) {
  for (const Format& format : kFormats)
    if (begins_with(file, format.magic)) return format.decode(file).with(format.name);
  return invalid_argument(
      "the {} bytes begin like no image of a known format (BMP, JPEG, JPEG 2000, PNG, PNM, TIFF, WebP)", file.size());
}

std::vector<uint8_t> to_gray(const Image& image) {
  std::vector<uint8_t> gray(image.rgb.size() / 3);
  for (size_t i = 0; i < gray.size(); ++i) {
    const uint8_t* p = &image.rgb[3 * i];
    // 0.299, 0.587 and 0.114 of 65536, rounded.
    gray[i] = static_cast<uint8_t>((p[0] * 19595U + p[1] * 38470U + p[2] * 7471U + 32768U) >> 16);
  }
  return gray;
}

Status check_size(int64_t width, int64_t height) {
  if (width < 1 || height < 1 || width > kMostPixels || height > kMostPixels / width)
    return invalid_argument("its size is {} x {}; images have 1 to {} pixels", width, height, kMostPixels);
  return Status::ok();
}

Result<Image> blank(int64_t width, int64_t height) {
  NEREID_RETURN_IF_ERROR(check_size(width, height));
  Image image{.width = width, .height = height, .rgb = {}};
  image.rgb.resize(static_cast<size_t>(width * height) * 3);
  return image;
}

Status damaged(std::string_view format, std::string_view what) {
  return invalid_argument("the {} file is damaged: {}", format, what);
}

Result<std::vector<uint8_t>> inflate_exactly(Bytes stream, size_t size) {
  std::vector<uint8_t> out(size);
  z_stream z = {};
  if (inflateInit(&z) != Z_OK) return exhausted("there is no memory to decompress with");
  size_t read = 0, written = 0;
  int code = Z_OK;
  constexpr size_t kPiece = size_t{1} << 30;
  while (code == Z_OK && written < size) {
    z.next_in = const_cast<Bytef*>(stream.data() + read);
    z.avail_in = static_cast<uInt>(std::min(stream.size() - read, kPiece));
    z.next_out = out.data() + written;
    z.avail_out = static_cast<uInt>(std::min(size - written, kPiece));
    const uInt in = z.avail_in, room = z.avail_out;
    code = inflate(&z, Z_NO_FLUSH);
    read += in - z.avail_in;
    written += room - z.avail_out;
    if (in == z.avail_in && room == z.avail_out) break;
  }
  inflateEnd(&z);
  if (written < size) return invalid_argument("its compressed data end or break after {} of {} bytes", written, size);
  return out;
}

}  // namespace nereid::image
