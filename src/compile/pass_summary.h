// SPDX-License-Identifier: Apache-2.0
// What the passes did to a network, as it is shown and as an engine keeps it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "passes/pipeline.h"

namespace nereid::compile {

struct PassSummary {
  std::string name;
  std::string reason;  // why it is in the pipeline; "" if it is no more
  bool enabled = true;
  int64_t fired = 0, refused = 0;
  int64_t nodes_before = 0, nodes_after = 0;
  std::vector<passes::Record> records;  // of an engine: none, it keeps the numbers alone
  bool is_idle() const { return enabled && fired + refused == 0 && nodes_before == nodes_after; }
};

std::vector<PassSummary> summarize_passes(const passes::Report& report);

// The numbers of those that did or refused something, for an engine's info, and back. What is damaged is left out.
Json passes_info(const std::vector<PassSummary>& summaries);
std::vector<PassSummary> passes_from_info(const Json& info);

}  // namespace nereid::compile
