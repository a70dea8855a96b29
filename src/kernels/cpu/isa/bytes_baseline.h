// SPDX-License-Identifier: Apache-2.0
// The bytes of the baseline (simd/README.md): interleaving and products that few kernels want.
#pragma once

#include "kernels/cpu/simd/baseline.h"

namespace nereid::kernels::baseline::simd {

inline Bytes load_bytes(const void* p, int n) {
  Bytes b = {};
  std::memcpy(b.v, p, static_cast<size_t>(n));
  return b;
}
inline Bytes load_two(const void* p, const void* q, int n) {
  Bytes b = {};
  std::memcpy(b.v, p, static_cast<size_t>(n));
  std::memcpy(b.v + 32, q, static_cast<size_t>(n));
  return b;
}
inline void store_two(void* p, void* q, const Bytes& a, int n) {
  std::memcpy(p, a.v, static_cast<size_t>(n));
  std::memcpy(q, a.v + 32, static_cast<size_t>(n));
}
inline void store_bytes(void* p, const Bytes& a) {
  std::memcpy(p, a.v, 64);
}
inline void store_bytes(void* p, const Bytes& a, int n) {
  std::memcpy(p, a.v, static_cast<size_t>(n));
}
inline Bytes flip_signs(const Bytes& a) {
  Bytes r;
  for (int i = 0; i < 64; ++i) r.v[i] = a.v[i] ^ 0x80;
  return r;
}
inline Bytes max_bytes(const Bytes& a, const Bytes& b) {
  Bytes r;
  for (int i = 0; i < 64; ++i) r.v[i] = a.v[i] > b.v[i] ? a.v[i] : b.v[i];
  return r;
}
inline void interleave_bytes(const Bytes& a, const Bytes& b, const Bytes& c, const Bytes& d, Bytes (&q)[4]) {
  for (int i = 0; i < 64; ++i) {
    uint8_t* to = q[i / 4 % 4].v + i / 16 * 16 + i % 4 * 4;
    to[0] = a.v[i];
    to[1] = b.v[i];
    to[2] = c.v[i];
    to[3] = d.v[i];
  }
}
inline I32 dot_bytes(const I32& sum, const Bytes& a, const void* p) {
  int8_t s[64];
  int32_t t[16];
  std::memcpy(s, p, 64);
  std::memcpy(t, sum.v, 64);
  for (int i = 0; i < 64; ++i) t[i / 4] += a.v[i] * s[i];
  I32 r;
  std::memcpy(r.v, t, 64);
  return r;
}
inline Bytes gather_codes(const I32& a, const I32& b, const I32& c, const I32& d, int32_t low, int32_t high) {
  int32_t t[4][16];
  std::memcpy(t[0], a.v, 64);
  std::memcpy(t[1], b.v, 64);
  std::memcpy(t[2], c.v, 64);
  std::memcpy(t[3], d.v, 64);
  Bytes r;
  for (int i = 0; i < 64; ++i) {
    const int32_t v = t[i / 4 % 4][i / 16 * 4 + i % 4];
    r.v[i] = static_cast<uint8_t>(v < low ? low : v > high ? high : v);
  }
  return r;
}
inline Bytes gather_u8(const I32& a, const I32& b, const I32& c, const I32& d) {
  return gather_codes(a, b, c, d, 0, 255);
}
inline Bytes gather_u8(const I32& a, const I32& b, const I32& c, const I32& d, int zero) {
  const I32 z = iset1(zero);
  return gather_u8(iadd(a, z), iadd(b, z), iadd(c, z), iadd(d, z));
}
inline Bytes gather_s8(const I32& a, const I32& b, const I32& c, const I32& d) {
  return gather_codes(a, b, c, d, -128, 127);
}

// Codes of 32 columns of two rows, plus a zero point of 0 to 255, saturated.
inline void store_code_rows(uint8_t* y0, uint8_t* y1, const I32& a0, const I32& a1, const I32& b0, const I32& b1,
                            int zero) {
  const auto put = [&](uint8_t* y, const I32& v) { store_u8(y, iadd(v, iset1(zero))); };
  put(y0, a0);
  put(y0 + 16, a1);
  put(y1, b0);
  put(y1 + 16, b1);
}

}  // namespace nereid::kernels::baseline::simd
