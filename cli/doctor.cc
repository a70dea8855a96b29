// SPDX-License-Identifier: Apache-2.0
// nereid doctor: looks at the machine and says what is there, what is missing and what mends it.
#include <cstdio>
#include <cstdlib>

#include "base/interrupt.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/doctor_probes.h"

namespace nereid::cli {
namespace {

CpuState read_cpu_state(Findings& findings) {
  CpuState cpu{.info = read_cpu_info()};
  if (const char* limit = std::getenv("NEREID_ISA")) cpu.isa_limit = limit;
  if (cpu.info.features.amx_tile) cpu.amx_permitted = request_amx_permission();
  const Result<Isa> isa = best_isa(cpu.info);
  if (isa.is_ok())
    cpu.isa = *isa;
  else
    findings.push_back({.section = "cpu",
                        .name = "NEREID_ISA",
                        .value = isa.status().message(),
                        .health = Health::kBroken,
                        .advice = "unset NEREID_ISA"});
  return cpu;
}

}  // namespace

int doctor_command(Arguments args) {
  CommandLine app("Looks at this machine: what is there, what is missing, and what mends it.", "nereid doctor");
  bool json = false, quick = false;
  std::string root;
  app.add_flag("--json", json, "one JSON object on stdout");
  app.add_flag("--quick", quick, "measure nothing");
  app.add_option("--root", root, "look at a folder that stands for another machine (files, commands/, libraries/)")
      ->check(Check::existing_directory());
  if (const auto code = parse(app, args)) return *code;

  const DoctorSystem system(root);
  Findings findings;
  const CpuState cpu = read_cpu_state(findings);
  examine_cpu(cpu, findings);
  examine_memory(system, cpu, findings);
  if (!quick) examine_speed(system, cpu, findings);
  examine_gpu(system, findings);
  examine_tools(system, findings);
  examine_folders(findings);
  if (interrupted()) return kInterrupted;
  const std::string text =
      json ? doctor_json(findings).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n" : doctor_text(findings);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return is_healthy(findings) ? kDone : kFailed;
}

}  // namespace nereid::cli
