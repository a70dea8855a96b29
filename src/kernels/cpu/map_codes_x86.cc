// SPDX-License-Identifier: Apache-2.0
// Which way to look codes up, on x86-64: AVX-512 machines differ in VBMI.
#include "kernels/cpu/low_precision.h"
#include "kernels/cpu/map_codes.h"

namespace nereid::kernels {
namespace avx512vbmi {
void map_codes(const uint8_t* map, std::byte* y, int64_t stride, int64_t rows, int64_t columns);
}

MapCodes map_codes_of(Isa isa) {
  static const bool kVbmi = __builtin_cpu_supports("avx512vbmi") != 0;
  return isa >= Isa::avx512 && kVbmi ? avx512vbmi::map_codes : map_codes_singly;
}

}  // namespace nereid::kernels
