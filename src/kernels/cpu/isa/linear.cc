// SPDX-License-Identifier: Apache-2.0
// linear by vector loops alone.
#include "kernels/cpu/isa/linear_driver.h"
#include "kernels/cpu/isa_kernels.h"

namespace nereid::kernels::NEREID_ISA {

void linear(const LinearParams& p, Worker& worker) {
  drive<NoMatrix>(p, worker);
}

}  // namespace nereid::kernels::NEREID_ISA
