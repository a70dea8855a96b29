// SPDX-License-Identifier: Apache-2.0
// The lines of /proc/self/cgroup: "id:controllers:path"; of control groups v2 the single line "0::path". Private to the
// files that read limits from them.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

namespace nereid {

struct CgroupLine {
  std::string_view controllers;  // divided by commas; "": v2
  std::string_view group;
};

// The next line that is one, which `text` is moved past; nothing at the end.
inline std::optional<CgroupLine> next_cgroup_line(std::string_view* text) {
  while (!text->empty()) {
    const size_t end = std::min(text->find('\n'), text->size());
    const std::string_view line = text->substr(0, end);
    text->remove_prefix(std::min(end + 1, text->size()));
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second != std::string_view::npos)
      return CgroupLine{line.substr(first + 1, second - first - 1), line.substr(second + 1)};
  }
  return std::nullopt;
}

// A path from the root that stays below it; "" (the root) for what is outside of what this container sees.
inline std::string_view visible_group(std::string_view group) {
  return group.starts_with('/') && group.find("..") == std::string_view::npos ? group : std::string_view();
}

inline bool has_controller(std::string_view controllers, std::string_view one) {
  for (size_t at = 0; at <= controllers.size();) {
    const size_t end = std::min(controllers.find(',', at), controllers.size());
    if (controllers.substr(at, end - at) == one) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace nereid
