// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string_view>

#include "server/backend/llm/infer/ask_names.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  nereid::server::Ask ask;
  (void)nereid::server::take_json({reinterpret_cast<const char*>(data), size}, &ask);
  return 0;
}
