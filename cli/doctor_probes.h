// SPDX-License-Identifier: Apache-2.0
// The parts of the doctor's round, one source file each; the list that doctor.cc calls in order.
#pragma once

#include "base/cpu_info.h"
#include "cli/doctor_report.h"
#include "cli/doctor_system.h"

namespace nereid::cli {

// What the CPU section is about.
struct CpuState {
  CpuInfo info;
  Isa isa = Isa::baseline;     // what kernels will use
  std::string isa_limit;       // NEREID_ISA
  bool amx_permitted = false;  // asked for where the processor has tiles
};

void examine_cpu(const CpuState& cpu, Findings& findings);
// Caches aside: RAM, control group, huge pages.
void examine_memory(const DoctorSystem& system, const CpuState& cpu, Findings& findings);
// Takes seconds: memory bandwidth of one thread and of all, cost of a fork and join. Not on a stand-in.
void examine_speed(const DoctorSystem& system, const CpuState& cpu, Findings& findings);
void examine_gpu(const DoctorSystem& system, Findings& findings);
void examine_tools(const DoctorSystem& system, Findings& findings);
// The folders that Nereid writes: `cache` is what cache_dir() said.
void examine_folders(Findings& findings);

// Features that the instruction set after `isa` needs and the processor lacks, by the names of /proc/cpuinfo.
std::vector<std::string> features_missing_for(Isa isa, const CpuFeatures& features);

}  // namespace nereid::cli
