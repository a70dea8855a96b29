// SPDX-License-Identifier: Apache-2.0
// Any text gives a graph or a sentence; a graph that was read prints and reads back to the same text.
#include <cstdlib>

#include "graph/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto graph = nereid::graph::parse({reinterpret_cast<const char*>(data), size});
  if (!graph.is_ok()) {
    if (graph.status().message().empty()) std::abort();
    return 0;
  }
  const std::string once = nereid::graph::print(*graph);
  auto again = nereid::graph::parse(once);
  if (!again.is_ok() || nereid::graph::print(*again) != once) std::abort();
  return 0;
}
