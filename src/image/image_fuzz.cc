// SPDX-License-Identifier: Apache-2.0
// No bytes make a decoder read past its file or give an image of another size than it says.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "image/image.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto image = nereid::image::decode({data, size});
  if (image.is_ok() && image->rgb.size() != static_cast<size_t>(3 * image->width * image->height)) std::abort();
  return 0;
}
