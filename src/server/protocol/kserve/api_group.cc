// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve/api_group.h"

namespace nereid::server::kserve {
namespace {

constexpr std::string_view kNames[] = {"health",           "metadata",   "inference", "shared-memory", "model-config",
                                       "model-repository", "statistics", "trace",     "logging"};
static_assert(std::size(kNames) == static_cast<size_t>(ApiGroup::kCount));

std::string all_names() {
  std::string out;
  for (const std::string_view name : kNames) out += (out.empty() ? "" : ", ") + std::string(name);
  return out;
}

}  // namespace

Result<RestrictedApis> RestrictedApis::parse(std::string_view option, std::span<const std::string> texts,
                                             std::string_view prefix) {
  RestrictedApis out;
  for (const std::string& text : texts) {
    const size_t colon = text.find(':'), equals = colon == text.npos ? text.npos : text.find('=', colon);
    if (equals == text.npos || equals == colon + 1 || equals + 1 == text.size())
      return invalid_argument("{} takes GROUP,GROUP:HEADER=VALUE, found '{}'", option, text);
    const Gate gate{.header = std::string(prefix) + text.substr(colon + 1, equals - colon - 1),
                    .value = text.substr(equals + 1)};
    for (size_t at = 0; at <= colon;) {
      const size_t end = std::min(text.find(',', at), colon);
      const std::string_view name = std::string_view(text).substr(at, end - at);
      size_t group = 0;
      while (group < std::size(kNames) && kNames[group] != name) ++group;
      if (group == std::size(kNames))
        return invalid_argument("{}: unknown restricted protocol '{}'; there are {}", option, name, all_names());
      if (out.gates_[group])
        return invalid_argument("{}: restricted protocol '{}' can not be specified in multiple config groups", option,
                                name);
      out.gates_[group] = gate;
      at = end + 1;
    }
  }
  return out;
}

bool RestrictedApis::accepts(ApiGroup group, std::string_view value) const {
  const auto& gate = gates_[static_cast<size_t>(group)];
  if (!gate) return true;
  const std::string& right = gate->value;
  // Every byte of what was sent is compared, so that the time says nothing about how much of it is right.
  unsigned wrong = value.size() == right.size() ? 0 : 1;
  for (size_t i = 0; i < value.size(); ++i)
    wrong |= static_cast<unsigned char>(value[i]) ^ static_cast<unsigned char>(right[i % right.size()]);
  return wrong == 0;
}

}  // namespace nereid::server::kserve
