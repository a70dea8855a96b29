// SPDX-License-Identifier: Apache-2.0
// What the processor is and can do, as the program may use it: a feature counts only when the operating system has
// enabled its registers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace nereid {

// Instruction set extensions that kernels care about.
struct CpuFeatures {
  bool sse42 = false, avx = false, avx2 = false, fma = false, f16c = false, bmi2 = false, avx_vnni = false;
  bool avx512f = false, avx512bw = false, avx512vl = false, avx512dq = false;
  bool avx512_vnni = false, avx512_bf16 = false, avx512_fp16 = false;
  // The processor has tiles and the system knows them; a process uses them after request_amx_permission().
  bool amx_tile = false, amx_int8 = false, amx_bf16 = false;
  bool operator==(const CpuFeatures&) const = default;
};

struct CpuInfo {
  std::string vendor;  // "GenuineIntel", "AuthenticAMD", "ARM", ...; empty when unknown
  std::string model;   // "Intel(R) Xeon(R) Platinum 8481C", ...
  int logical_cpus = 1;
  int usable_cpus = 1;  // affinity and control-group quota, see cpu_limits.h
  int numa_nodes = 1;
  CpuFeatures features;
  // Bytes, of the first CPU; 0 when unknown. A core has its own L1d and usually L2; L3 is shared by many.
  int64_t l1d_bytes = 0, l2_bytes = 0, l3_bytes = 0;
  std::string huge_pages;  // transparent huge pages: "always", "madvise", "never", or "" where the kernel has none
};

// This machine's, read anew at each call (some ms): call it once and pass it on.
CpuInfo read_cpu_info();

// Asks the system for the use of AMX tiles by this process; true when granted (also before, or by a kernel that does
// not ask). Any thread; it holds for all threads.
bool request_amx_permission();

// The instruction sets kernels are compiled for; each includes those before it.
enum class Isa : uint8_t { baseline, avx2, avx512, amx };
std::string_view isa_name(Isa isa);

// The best set that the features allow, lowered by `limit` when that is not empty (the value of NEREID_ISA: a name
// above). A limit never raises. kInvalidArgument for an unknown name.
Result<Isa> best_isa(const CpuFeatures& features, std::string_view limit);
// The same with the environment's NEREID_ISA; asks for AMX permission before it answers `amx`.
Result<Isa> best_isa(const CpuInfo& info);

// The parsers of what the system says; odd texts give empty or zero. Exposed for tests.
struct CpuInfoText {
  std::string vendor, model;
  int logical_cpus = 0;
};
CpuInfoText parse_proc_cpuinfo(std::string_view text);
int64_t parse_cache_size(std::string_view text);          // "48K", "260M", bytes
int count_cpu_list(std::string_view text);                // "0-3,8": 5; also lists of NUMA nodes
std::string parse_huge_page_mode(std::string_view text);  // "always [madvise] never": madvise

// Read from the processor itself; in cpu_features_x86.cc and cpu_features_other.cc.
CpuFeatures read_cpu_features();

}  // namespace nereid
