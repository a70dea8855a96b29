// SPDX-License-Identifier: Apache-2.0
// Machines other than x86-64 have the baseline alone.
#include "kernels/cpu/isa_kernels.h"
#include "kernels/cpu/isa_row.h"

namespace nereid::kernels {

const IsaKernels& isa_kernels(Isa) {
  static constexpr IsaKernels kRow = NEREID_ISA_ROW(baseline);
  return kRow;
}

}  // namespace nereid::kernels
