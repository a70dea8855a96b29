// SPDX-License-Identifier: Apache-2.0
// Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2 (CPUID) and volume 1 (XCR0);
// Linux Documentation/arch/x86/xstate.rst (permission for AMX).
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "base/cpu_info.h"

namespace nereid {
namespace {

struct Registers {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(uint32_t leaf, uint32_t subleaf) {
  Registers r;
  // Zeroes where the processor has no such leaf.
  if (!__get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx)) return {};
  return r;
}

constexpr bool bit(uint32_t word, int n) {
  return (word >> n & 1u) != 0;
}

// Which register files the system saves at a context switch. As bytes, because the intrinsic needs a compiler flag.
uint64_t xcr0() {
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

constexpr uint64_t kAvxState = 0x6;        // XMM, YMM
constexpr uint64_t kAvx512State = 0xe6;    // and opmask, ZMM upper halves, ZMM16-31
constexpr uint64_t kAmxState = 0x60000;    // tile configuration and data
constexpr int kArchGetXcompPerm = 0x1022;  // Linux arch_prctl codes
constexpr int kArchReqXcompPerm = 0x1023;
constexpr int kXfeatureTileData = 18;

}  // namespace

CpuFeatures read_cpu_features() {
  const Registers l1 = cpuid(1, 0), l7 = cpuid(7, 0);
  const Registers l7_1 = l7.eax >= 1 ? cpuid(7, 1) : Registers{};
  const bool os_saves = bit(l1.ecx, 27);
  const uint64_t state = os_saves ? xcr0() : 0;
  const bool avx = (state & kAvxState) == kAvxState && bit(l1.ecx, 28);
  const bool avx512 = avx && (state & kAvx512State) == kAvx512State && bit(l7.ebx, 16);
  const bool amx = (state & kAmxState) == kAmxState && bit(l7.edx, 24);

  CpuFeatures f;
  f.sse42 = bit(l1.ecx, 20);
  f.bmi2 = bit(l7.ebx, 8);
  f.avx = avx;
  f.fma = avx && bit(l1.ecx, 12);
  f.f16c = avx && bit(l1.ecx, 29);
  f.avx2 = avx && bit(l7.ebx, 5);
  f.avx_vnni = avx && bit(l7_1.eax, 4);
  f.avx512f = avx512;
  f.avx512dq = avx512 && bit(l7.ebx, 17);
  f.avx512bw = avx512 && bit(l7.ebx, 30);
  f.avx512vl = avx512 && bit(l7.ebx, 31);
  f.avx512_vnni = avx512 && bit(l7.ecx, 11);
  f.avx512_fp16 = avx512 && bit(l7.edx, 23);
  f.avx512_bf16 = avx512 && bit(l7_1.eax, 5);
  f.amx_tile = amx;
  f.amx_bf16 = amx && bit(l7.edx, 22);
  f.amx_int8 = amx && bit(l7.edx, 25);
  return f;
}

bool request_amx_permission() {
  if (!read_cpu_features().amx_tile) return false;
  if (syscall(SYS_arch_prctl, kArchReqXcompPerm, kXfeatureTileData) == 0) return true;
  // Kernels before 5.16 know neither call; one of those that enables tiles anyway gives them to everyone.
  uint64_t permitted = 0;
  if (syscall(SYS_arch_prctl, kArchGetXcompPerm, &permitted) != 0) return true;
  return (permitted >> kXfeatureTileData & 1u) != 0;
}

}  // namespace nereid
