// SPDX-License-Identifier: Apache-2.0
// What a pass is, what it may ask about the target and what it tells about its work.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "passes/match.h"

namespace nereid::passes {

// What the target can run. A pass asks before it makes a node; a refusal's message tells why.
struct Capabilities {
  using Accepts = std::function<Status(const ops::OpDef& op, std::span<const ops::TensorType* const> inputs,
                                       const ops::Attrs& attrs)>;
  Accepts accepts;  // empty: everything
};

// One thing that a pass did, or would have done but for a reason.
struct Record {
  bool fired = true;
  std::string where;  // "linear %blk.0.q": the node where the pattern starts
  std::string what;   // what stands there now, or why it was refused
};

struct PassContext {
  const Capabilities& capabilities;
  std::vector<Record>& records;
};

// A rewrite as two pictures (picture.h) and a condition that pictures cannot show.
struct RewriteText {
  std::string pattern;
  std::string replacement;
  Condition condition = nullptr;
};

// One row of the pipeline: exactly one of `run` and `rewrites` is there.
struct Pass {
  std::string_view name;
  std::string_view reason;  // why it is worth it and why it stands where it stands
  Status (*run)(graph::Graph& graph, PassContext& context) = nullptr;
  std::vector<RewriteText> (*rewrites)() = nullptr;
};

}  // namespace nereid::passes
