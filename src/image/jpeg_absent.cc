// SPDX-License-Identifier: Apache-2.0
// Without libjpeg: why JPEG files cannot be read.
#include "image/codecs.h"

namespace nereid::image {

Result<Image> decode_jpeg(Bytes) {
  return unsupported(
      "this build of Nereid has no libjpeg, so JPEG files cannot be read; it is used where CMake finds it");
}

}  // namespace nereid::image
