// SPDX-License-Identifier: Apache-2.0
// The keys that requests must show. Only digests are kept, and comparing takes the same time whatever is wrong.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace nereid::server::net {

class ApiKeys {
 public:
  ApiKeys() = default;  // none: everybody may
  explicit ApiKeys(const std::vector<std::string>& keys);

  bool any() const { return !digests_.empty(); }
  // Of a header "Authorization: Bearer <key>".
  bool accepts(std::string_view authorization) const;

 private:
  using Digest = std::array<uint8_t, 32>;
  static Digest digest(std::string_view key);
  std::vector<Digest> digests_;
};

// One key a line; blank lines and those that begin with '#' are skipped. kInvalidArgument where none is left.
Result<std::vector<std::string>> read_api_keys(const std::string& path);

}  // namespace nereid::server::net
