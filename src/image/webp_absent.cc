// SPDX-License-Identifier: Apache-2.0
// Without libwebp: why WebP files cannot be read.
#include "image/codecs.h"

namespace nereid::image {

Result<Image> decode_webp(Bytes) {
  return unsupported(
      "this build of Nereid has no libwebp, so WebP files cannot be read; it is used where CMake finds it");
}

}  // namespace nereid::image
