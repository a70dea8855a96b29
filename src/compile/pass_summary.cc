// SPDX-License-Identifier: Apache-2.0
#include "compile/pass_summary.h"

#include <algorithm>

namespace nereid::compile {
namespace {

std::string reason_of(std::string_view name) {
  const auto row = std::ranges::find(passes::network_pipeline(), name, &passes::Pass::name);
  return row == passes::network_pipeline().end() ? std::string() : std::string(row->reason);
}

}  // namespace

std::vector<PassSummary> summarize_passes(const passes::Report& report) {
  std::vector<PassSummary> out;
  for (const passes::PassReport& pass : report.passes) {
    const auto fired = static_cast<int64_t>(pass.fired());
    out.push_back({.name = std::string(pass.name),
                   .reason = reason_of(pass.name),
                   .enabled = pass.enabled,
                   .fired = fired,
                   .refused = static_cast<int64_t>(pass.records.size()) - fired,
                   .nodes_before = static_cast<int64_t>(pass.nodes_before),
                   .nodes_after = static_cast<int64_t>(pass.nodes_after),
                   .records = pass.records});
  }
  return out;
}

Json passes_info(const std::vector<PassSummary>& summaries) {
  Json list = Json::array();
  for (const PassSummary& pass : summaries)
    if (!pass.is_idle())
      list.push_back({{"name", pass.name},
                      {"enabled", pass.enabled},
                      {"fired", pass.fired},
                      {"refused", pass.refused},
                      {"nodes", {pass.nodes_before, pass.nodes_after}}});
  return list;
}

std::vector<PassSummary> passes_from_info(const Json& info) {
  std::vector<PassSummary> out;
  const Json* list = json_find(info, "passes");
  if (list == nullptr || !list->is_array()) return out;
  for (const Json& entry : *list) {
    const auto name = json_string(entry, "name");
    const auto enabled = json_bool_or(entry, "enabled", true);
    const auto fired = json_int(entry, "fired"), refused = json_int(entry, "refused");
    const auto nodes = json_array(entry, "nodes");
    if (!name.is_ok() || !enabled.is_ok() || !fired.is_ok() || !refused.is_ok() || !nodes.is_ok()) continue;
    if ((*nodes)->size() != 2 || !(**nodes)[0].is_number_integer() || !(**nodes)[1].is_number_integer()) continue;
    out.push_back({.name = *name,
                   .reason = reason_of(*name),
                   .enabled = *enabled,
                   .fired = *fired,
                   .refused = *refused,
                   .nodes_before = (**nodes)[0].get<int64_t>(),
                   .nodes_after = (**nodes)[1].get<int64_t>(),
                   .records = {}});
  }
  return out;
}

}  // namespace nereid::compile
