// SPDX-License-Identifier: Apache-2.0
// WebP by libwebp.
#include <webp/decode.h>

#include "image/codecs.h"

namespace nereid::image {

Result<Image> decode_webp(Bytes file) {
  int width = 0, height = 0;
  if (WebPGetInfo(file.data(), file.size(), &width, &height) == 0) return damaged("WebP", "its header is none");
  NEREID_TRY(Image image, blank(width, height));
  if (WebPDecodeRGBInto(file.data(), file.size(), image.rgb.data(), image.rgb.size(), 3 * width) == nullptr)
    return damaged("WebP", "its pixels cannot be decoded");
  return image;
}

}  // namespace nereid::image
