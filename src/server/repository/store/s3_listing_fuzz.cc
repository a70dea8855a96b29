// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "server/repository/store/s3_listing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)nereid::server::read_s3_listing(text);
  (void)nereid::server::s3_error_text(text);
  return 0;
}
