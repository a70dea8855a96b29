// SPDX-License-Identifier: Apache-2.0
// CHECK: always on, guards memory safety. DCHECK: debug builds, guards invariants.
// Whatever a file, user, peer or driver can cause is a Status (base/status.h), never a check.
#pragma once

#include <cstdint>

namespace nereid {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}

#define NEREID_CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::nereid::check_failed(#condition, __FILE__, __LINE__))

#ifdef NDEBUG
#define NEREID_DCHECK(condition) static_cast<void>(sizeof(static_cast<bool>(condition)))
#else
#define NEREID_DCHECK(condition) NEREID_CHECK(condition)
#endif
