// SPDX-License-Identifier: Apache-2.0
// Without OpenJPEG: why JPEG 2000 files cannot be read.
#include "image/codecs.h"

namespace nereid::image {

Result<Image> decode_jpeg2000(Bytes) {
  return unsupported(
      "this build of Nereid has no OpenJPEG, so JPEG 2000 files cannot be read; it is used where CMake finds it");
}

}  // namespace nereid::image
