// SPDX-License-Identifier: Apache-2.0
// A regular expression over names of headers; case does not count, as it does not in names.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace nereid::server::net {

// Thread-safe once made.
class NamePattern {
 public:
  NamePattern() = default;  // matches nothing
  // kInvalidArgument: no regular expression, with what is wrong where.
  static Result<NamePattern> make(const std::string& pattern);

  bool is_none() const { return code_ == nullptr; }
  // Somewhere in the name. An expression that would try very many ways does not match.
  bool matches(std::string_view name) const;

 private:
  struct Code;
  std::shared_ptr<const Code> code_;
};

}  // namespace nereid::server::net
