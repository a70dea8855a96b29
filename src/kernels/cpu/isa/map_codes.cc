// SPDX-License-Identifier: Apache-2.0
// Codes looked up in a table that stays in registers.
#include <cstddef>
#include <cstdint>

#include NEREID_ISA_HEADER

namespace nereid::kernels::NEREID_ISA {
namespace {

void map_row(const simd::ByteTable& table, std::byte* y, int64_t columns) {
  for (int64_t c = 0; c < columns; c += 64) {
    const __mmask64 some = columns - c >= 64 ? ~__mmask64{0} : (__mmask64{1} << (columns - c)) - 1;
    const __m512i codes = _mm512_maskz_loadu_epi8(some, y + c);
    _mm512_mask_storeu_epi8(y + c, some, simd::look_up(table, codes));
  }
}

}  // namespace

void map_codes(const uint8_t* map, std::byte* y, int64_t stride, int64_t rows, int64_t columns) {
  const simd::ByteTable table = simd::load_byte_table(map);
  int64_t i = 0;
  if (columns == 32)  // what a tile has: two rows at a time
    for (; i + 2 <= rows; i += 2, y += 2 * stride) {
      auto* upper = reinterpret_cast<__m256i*>(y);
      auto* lower = reinterpret_cast<__m256i*>(y + stride);
      const __m512i both =
          _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256(upper)), _mm256_loadu_si256(lower), 1);
      const __m512i mapped = simd::look_up(table, both);
      _mm256_storeu_si256(upper, _mm512_castsi512_si256(mapped));
      _mm256_storeu_si256(lower, _mm512_extracti64x4_epi64(mapped, 1));
    }
  for (; i < rows; ++i, y += stride) map_row(table, y, columns);
}

}  // namespace nereid::kernels::NEREID_ISA
