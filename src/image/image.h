// SPDX-License-Identifier: Apache-2.0
// Pictures in files, decoded to pixels: BMP, PNM (P1 to P6), PNG, TIFF; JPEG, WebP and JPEG 2000 where their libraries
// were there when Nereid was built.
//
// A file is hostile: every size is checked before memory is taken, nothing is read past its end.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace nereid::image {

// Rows from the top, pixels from the left, red green blue a byte each. Transparency is dropped.
struct Image {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint8_t> rgb;
};

// The format is told by the first bytes. kInvalidArgument for a damaged file or one of no known format, kUnsupported
// for what a known format may hold but is not read here.
Result<Image> decode(std::span<const uint8_t> file);

// Luma as ITU-R BT.601 weighs it, a byte a pixel.
std::vector<uint8_t> to_gray(const Image& image);

}  // namespace nereid::image
