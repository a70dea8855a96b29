// SPDX-License-Identifier: Apache-2.0
#include "tune/device_key.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/cpu/tactic.h"

namespace nereid::tune {

std::string DeviceKey::text() const {
  return fmt::format("{}; threads {}", machine, threads);
}

DeviceKey device_key(const CpuInfo& cpu, Isa isa, int threads) {
  std::string set(isa_name(isa));
  if (isa >= Isa::avx512 && cpu.features.avx512_vnni) set += " vnni";
  if (isa >= Isa::avx512 && cpu.features.avx512_bf16) set += " bf16";
  std::string model = cpu.model.empty() ? std::string("unknown processor") : cpu.model;
  // It becomes a field of a line.
  std::ranges::replace_if(
      model, [](char c) { return c < ' ' || c == ';' || c == '\x7f'; }, ' ');
  return {.machine = fmt::format("{}; L2 {} KiB, L3 {} KiB; {}; kernels {}", model, cpu.l2_bytes >> 10,
                                 cpu.l3_bytes >> 10, set, kernels::kKernelVersion),
          .threads = threads};
}

}  // namespace nereid::tune
