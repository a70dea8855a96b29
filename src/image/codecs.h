// SPDX-License-Identifier: Apache-2.0
// One decoder a format, and what they share. Private to image.
#pragma once

#include <span>
#include <string_view>

#include "image/image.h"

namespace nereid::image {

using Bytes = std::span<const uint8_t>;

// Pixels more than this are refused: 2^28, a file of 768 MiB decoded.
constexpr int64_t kMostPixels = int64_t{1} << 28;

// kInvalidArgument unless there are 1 to kMostPixels pixels.
Status check_size(int64_t width, int64_t height);
// An image of zeros of a size that check_size takes.
Result<Image> blank(int64_t width, int64_t height);
Status damaged(std::string_view format, std::string_view what);

Result<Image> decode_bmp(Bytes file);
Result<Image> decode_pnm(Bytes file);
Result<Image> decode_png(Bytes file);
Result<Image> decode_tiff(Bytes file);
Result<Image> decode_jpeg(Bytes file);
Result<Image> decode_webp(Bytes file);
Result<Image> decode_jpeg2000(Bytes file);

// `size` bytes out of a zlib stream; kInvalidArgument if it holds fewer or is damaged. More are not read.
Result<std::vector<uint8_t>> inflate_exactly(Bytes stream, size_t size);

// Numbers of `Width` bytes at an offset that was checked.
inline uint32_t little16(Bytes b, size_t at) {
  return static_cast<uint32_t>(b[at] | b[at + 1] << 8);
}
inline uint32_t little32(Bytes b, size_t at) {
  return little16(b, at) | little16(b, at + 2) << 16;
}
inline uint32_t big16(Bytes b, size_t at) {
  return static_cast<uint32_t>(b[at] << 8 | b[at + 1]);
}
inline uint32_t big32(Bytes b, size_t at) {
  return big16(b, at) << 16 | big16(b, at + 2);
}

}  // namespace nereid::image
