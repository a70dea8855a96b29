// SPDX-License-Identifier: Apache-2.0
// What HTTP asks of single ASCII characters. Private to server/net.
#pragma once

#include <strings.h>

#include <string_view>

namespace nereid::server::net {

// 0 to 15, or -1.
inline int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

inline bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace nereid::server::net
