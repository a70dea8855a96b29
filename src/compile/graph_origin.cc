// SPDX-License-Identifier: Apache-2.0
#include "compile/graph_origin.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace nereid::compile {

std::vector<std::vector<size_t>> graph_origins(const graph::Graph& before, const graph::Graph& after) {
  std::unordered_set<std::string_view> still_there;
  for (const graph::NodeId id : after.order())
    for (const graph::ValueId out : after.node(id).outputs) still_there.insert(after.value(out).name);
  const auto producer = [&](graph::ValueId id) {
    return id.valid() && before.value(id).kind == graph::Value::Kind::kResult ? before.value(id).producer
                                                                              : graph::NodeId{};
  };
  std::vector<std::vector<size_t>> origins;
  std::vector<size_t> seen_by(before.order().size(), 0);  // place in `after`, plus one, of who saw it last
  for (size_t at = 0; at < after.order().size(); ++at) {
    std::vector<size_t>& mine = origins.emplace_back();
    std::vector<graph::NodeId> open;
    const auto visit = [&](graph::NodeId id) {
      if (!id.valid() || mine.size() >= kMostOrigins) return;
      const size_t place = before.position_of(id);
      if (seen_by[place] == at + 1) return;
      seen_by[place] = at + 1;
      mine.push_back(place);
      open.push_back(id);
    };
    for (const graph::ValueId out : after.node(after.order()[at]).outputs)
      visit(producer(before.find_value(after.value(out).name)));
    while (!open.empty()) {
      const graph::NodeId id = open.back();
      open.pop_back();
      for (const graph::ValueId in : before.node(id).inputs)
        if (in.valid() && !still_there.contains(before.value(in).name)) visit(producer(in));
    }
    std::ranges::sort(mine);
  }
  return origins;
}

}  // namespace nereid::compile
