// SPDX-License-Identifier: Apache-2.0
// Processors other than x86-64: kernels are compiled once, for what the compiler's target has (on arm64: NEON).
#include "base/cpu_info.h"

namespace nereid {

CpuFeatures read_cpu_features() {
  return {};
}

bool request_amx_permission() {
  return false;
}

}  // namespace nereid
