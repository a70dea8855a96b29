// SPDX-License-Identifier: Apache-2.0
// Any graph comes out of the pipeline valid, and a second run finds nothing more to do.
#include <cstdio>
#include <cstdlib>

#include "graph/text.h"
#include "passes/pipeline.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto graph = nereid::graph::parse({reinterpret_cast<const char*>(data), size});
  if (!graph.is_ok()) return 0;
  auto report = nereid::passes::run_pipeline(*graph, {.disabled = {}, .capabilities = {}, .verify = true});
  if (!report.is_ok()) {
    std::fprintf(stderr, "%s\n", report.status().message().c_str());
    std::abort();
  }
  const std::string once = nereid::graph::print(*graph);
  if (!nereid::passes::run_pipeline(*graph).is_ok() || nereid::graph::print(*graph) != once) std::abort();
  auto network = nereid::graph::parse({reinterpret_cast<const char*>(data), size});
  auto lowered = nereid::passes::run_network_pipeline(*network, {.disabled = {}, .capabilities = {}, .verify = true});
  if (!lowered.is_ok()) {
    std::fprintf(stderr, "%s\n", lowered.status().message().c_str());
    std::abort();
  }
  return 0;
}
