// SPDX-License-Identifier: Apache-2.0
// Headers as they stand in frames: names in lower case, those that begin with ':' first.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::server::net::http2 {

struct HeaderField {
  std::string name, value;
  // One that many answers carry alike: it joins the client's table once, and costs a byte from then on.
  bool is_common = false;
};

using HeaderFields = std::vector<HeaderField>;
using SharedFields = std::shared_ptr<const HeaderFields>;

// nullptr where there is none of that name; of several the first.
inline const std::string* find_field(const HeaderFields& fields, std::string_view name) {
  for (const HeaderField& one : fields)
    if (one.name == name) return &one.value;
  return nullptr;
}

}  // namespace nereid::server::net::http2
