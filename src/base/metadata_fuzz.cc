// SPDX-License-Identifier: Apache-2.0
// Metadata that parses must be the metadata that its own bytes describe.
#include <cstdint>

#include "base/check.h"
#include "base/metadata.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto metadata = nereid::Metadata::parse(bytes)) NEREID_CHECK(metadata->serialize() == bytes);
  return 0;
}
