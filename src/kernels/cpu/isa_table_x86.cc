// SPDX-License-Identifier: Apache-2.0
// One row an instruction set, best first. AVX-512 machines differ in AVX512_BF16: their bf16 products are looked up
// once.
#include <array>

#include "kernels/cpu/isa_kernels.h"
#include "kernels/cpu/isa_row.h"

namespace nereid::kernels {
namespace {

std::array<IsaKernels, 4> make_table() {
  IsaKernels amx_row = NEREID_ISA_ROW(avx512);
  amx_row.isa = Isa::amx;
  amx_row.linear = amx::linear;
  amx_row.low_gemm = amx::low_gemm;
  amx_row.low_conv = amx::low_conv;
  IsaKernels avx512_row = NEREID_ISA_ROW(avx512);
  const CpuInfo cpu = read_cpu_info();
  if (cpu.features.avx512_bf16 && cpu.vendor == "AuthenticAMD") {
    avx512_row.low_gemm = avx512bf16::low_gemm;
    avx512_row.low_conv = avx512bf16::low_conv;
  }
  return {amx_row, avx512_row, NEREID_ISA_ROW(avx2), NEREID_ISA_ROW(baseline)};
}

}  // namespace

const IsaKernels& isa_kernels(Isa isa) {
  static const std::array<IsaKernels, 4> kTable = make_table();
  for (const IsaKernels& row : kTable)
    if (row.isa <= isa) return row;
  return kTable[3];
}

}  // namespace nereid::kernels
