// SPDX-License-Identifier: Apache-2.0
// What xgrammar would print while it compiles: kept, because what it ignores in a grammar must not be ignored silently.
#pragma once

#include <string>
#include <vector>

namespace nereid::sample {

// While it lives, warnings of this thread go into `warnings`; those of other times are dropped.
class KeepWarnings {
 public:
  explicit KeepWarnings(std::vector<std::string>* warnings);
  ~KeepWarnings();
  KeepWarnings(const KeepWarnings&) = delete;
  KeepWarnings& operator=(const KeepWarnings&) = delete;
};

}  // namespace nereid::sample
