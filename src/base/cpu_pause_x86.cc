// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "base/cpu_pause.h"

namespace nereid {

void cpu_pause() {
  _mm_pause();
}

}  // namespace nereid
