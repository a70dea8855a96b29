// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace nereid {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "nereid: internal check failed at %s:%d: %s\n", file, line, condition);
  std::abort();
}

}  // namespace nereid
