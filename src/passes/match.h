// SPDX-License-Identifier: Apache-2.0
// Finding a pattern in a graph: first the ops and their wiring, then everything else, which can be refused with a
// reason.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "passes/picture.h"

namespace nereid::passes {

struct Match {
  const Picture* pattern = nullptr;
  std::vector<graph::ValueId> values;  // by index of the pattern's values; invalid: absent
  std::vector<graph::NodeId> nodes;    // by index of the pattern's nodes
  std::map<std::string, ops::AttrValue> attrs;
  std::map<std::string, ops::Attrs> rests;

  // The value that stands for the pattern's %name (checked to exist in the pattern).
  graph::ValueId value(std::string_view name) const;
};

// A further condition of a rewrite; not-ok is a refusal with its reason.
using Condition = Status (*)(const graph::Graph& graph, const Match& match);

struct Found {
  Match match;
  Status refusal;  // ok: the match holds. Else why the first wiring that fitted was refused.
};

// Looks for the pattern with its first node at `anchor`; nothing if the wiring fits nowhere there. Siblings that share
// only an input with the anchor are looked for after it, in order.
std::optional<Found> find_match(const graph::Graph& graph, const Picture& pattern, graph::NodeId anchor,
                                Condition condition);

}  // namespace nereid::passes
