// SPDX-License-Identifier: Apache-2.0
// One row an instruction set, best first.
#include <array>

#include "kernels/cpu/isa_kernels.h"

namespace nereid::kernels {
namespace {

#define NEREID_ISA_ROW(ns)                                                                                            \
  IsaKernels {                                                                                                        \
    .isa = Isa::ns, .linear = ns::linear, .attention = ns::attention, .rope_table = ns::rope_table, .rope = ns::rope, \
    .embedding = ns::embedding, .rms_norm = ns::rms_norm, .gated = ns::gated, .add = ns::add, .scale = ns::scale,     \
    .select_rows = ns::select_rows,                                                                                   \
  }
constexpr std::array kTable = {NEREID_ISA_ROW(avx512), NEREID_ISA_ROW(avx2), NEREID_ISA_ROW(baseline)};
#undef NEREID_ISA_ROW

}  // namespace

const IsaKernels& isa_kernels(Isa isa) {
  for (const IsaKernels& row : kTable)
    if (row.isa <= isa) return row;
  return kTable.back();
}

}  // namespace nereid::kernels
