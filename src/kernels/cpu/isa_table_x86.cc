// SPDX-License-Identifier: Apache-2.0
// One row an instruction set, best first.
#include "kernels/cpu/isa_kernels.h"
#include "kernels/cpu/isa_row.h"

namespace nereid::kernels {
namespace {

constexpr IsaKernels amx_row() {
  IsaKernels row = NEREID_ISA_ROW(avx512);
  row.isa = Isa::amx;
  row.linear = amx::linear;
  return row;
}

constexpr IsaKernels kTable[] = {amx_row(), NEREID_ISA_ROW(avx512), NEREID_ISA_ROW(avx2), NEREID_ISA_ROW(baseline)};

}  // namespace

const IsaKernels& isa_kernels(Isa isa) {
  for (const IsaKernels& row : kTable)
    if (row.isa <= isa) return row;
  return kTable[3];
}

}  // namespace nereid::kernels
