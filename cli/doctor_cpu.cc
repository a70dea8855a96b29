// SPDX-License-Identifier: Apache-2.0
// The processor: what it is, which instruction set kernels use, and why not a better one.
#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "base/cpu_limits.h"
#include "base/progress.h"
#include "cli/doctor_probes.h"

namespace nereid::cli {
namespace {

struct NeededFeature {
  Isa isa;  // the first that needs it
  bool CpuFeatures::*has;
  std::string_view name;
};
// As best_isa() asks for them.
constexpr std::array kNeeded = {
    NeededFeature{Isa::avx2, &CpuFeatures::avx2, "avx2"},
    NeededFeature{Isa::avx2, &CpuFeatures::fma, "fma"},
    NeededFeature{Isa::avx2, &CpuFeatures::f16c, "f16c"},
    NeededFeature{Isa::avx2, &CpuFeatures::bmi2, "bmi2"},
    NeededFeature{Isa::avx512, &CpuFeatures::avx512f, "avx512f"},
    NeededFeature{Isa::avx512, &CpuFeatures::avx512bw, "avx512bw"},
    NeededFeature{Isa::avx512, &CpuFeatures::avx512vl, "avx512vl"},
    NeededFeature{Isa::avx512, &CpuFeatures::avx512dq, "avx512dq"},
    NeededFeature{Isa::avx512, &CpuFeatures::avx512_vnni, "avx512_vnni"},
    NeededFeature{Isa::amx, &CpuFeatures::avx512_bf16, "avx512_bf16"},
    NeededFeature{Isa::amx, &CpuFeatures::amx_tile, "amx_tile"},
    NeededFeature{Isa::amx, &CpuFeatures::amx_int8, "amx_int8"},
    NeededFeature{Isa::amx, &CpuFeatures::amx_bf16, "amx_bf16"},
};

std::string why_not_better(const CpuState& cpu) {
  if (cpu.isa == Isa::amx) return "the best that Nereid has kernels for";
  if (!cpu.isa_limit.empty() && features_missing_for(cpu.isa, cpu.info.features).empty())
    return fmt::format("NEREID_ISA={} keeps it there", cpu.isa_limit);
  const Isa next = static_cast<Isa>(static_cast<int>(cpu.isa) + 1);
  const std::vector<std::string> missing = features_missing_for(cpu.isa, cpu.info.features);
  if (missing.empty()) return fmt::format("{}: the system does not permit it", isa_name(next));
  return fmt::format("{} would need {}", isa_name(next), fmt::join(missing, ", "));
}

Finding amx_finding(const CpuState& cpu) {
  Finding f{.section = "cpu", .name = "AMX permission"};
  if (!cpu.info.features.amx_tile) {
    f.value = "the processor has no AMX tiles";
  } else if (cpu.amx_permitted) {
    f.value = "granted";
  } else {
    f.value = "refused by the kernel";
    f.health = Health::kNote;
    f.advice = "use a Linux kernel of 5.16 or later, and a container profile that allows arch_prctl";
  }
  return f;
}

}  // namespace

std::vector<std::string> features_missing_for(Isa isa, const CpuFeatures& features) {
  std::vector<std::string> missing;
  for (const NeededFeature& needed : kNeeded)
    if (static_cast<int>(needed.isa) == static_cast<int>(isa) + 1 && !(features.*needed.has))
      missing.emplace_back(needed.name);
  return missing;
}

void examine_cpu(const CpuState& cpu, Findings& findings) {
  const CpuInfo& info = cpu.info;
  findings.push_back({.section = "cpu", .name = "processor", .value = info.model.empty() ? "unknown" : info.model});
  findings.push_back({.section = "cpu",
                      .name = "instruction set",
                      .value = fmt::format("{} is used; {}", isa_name(cpu.isa), why_not_better(cpu))});
  findings.push_back(amx_finding(cpu));
  Finding usable{.section = "cpu",
                 .name = "CPUs",
                 .value = fmt::format("{} usable of {}", info.usable_cpus, info.logical_cpus),
                 .number = info.usable_cpus};
  if (info.usable_cpus < info.logical_cpus) usable.value += " (affinity mask or control-group quota)";
  findings.push_back(std::move(usable));
  if (info.numa_nodes > 1)
    findings.push_back({.section = "cpu", .name = "memory nodes", .value = fmt::format("{}", info.numa_nodes)});
  findings.push_back({.section = "cpu",
                      .name = "caches",
                      .value = fmt::format("L1d {}, L2 {}, L3 {}", format_bytes(info.l1d_bytes),
                                           format_bytes(info.l2_bytes), format_bytes(info.l3_bytes))});
}

}  // namespace nereid::cli
