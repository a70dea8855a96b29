// SPDX-License-Identifier: Apache-2.0
// Text that parses must parse again, to the same document, from its own printed form.
#include <cstdint>

#include "base/check.h"
#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto json = nereid::parse_json(text)) {
    const auto again = nereid::parse_json(json->dump());
    NEREID_CHECK(again.is_ok() && *again == *json);
  }
  return 0;
}
