// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/test_dir.h"
#include "cli/doctor_parse.h"
#include "cli/doctor_probes.h"

namespace nereid::cli {
namespace {

using testing::HasSubstr;

// A stand-in for a machine: files by path.
class Machine {
 public:
  Machine& with(const std::string& path, const std::string& text) {
    const std::filesystem::path file = dir_ / path.substr(1);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return *this;
  }
  Machine& with_gpu() {
    return with("/sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n")
        .with("/sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");
  }
  Machine& with_switch() {
    return with("/sys/bus/pci/devices/0000:02:00.0/vendor", "0x10de\n")
        .with("/sys/bus/pci/devices/0000:02:00.0/class", "0x068000\n");
  }
  Machine& with_module(const std::string& version) {
    return with("/proc/driver/nvidia/version",
                "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  " + version +
                    "  Release Build  (dvs-builder)  Tue Sep  9\nGCC version:  gcc version 12.2.0 (Debian)\n");
  }
  DoctorSystem system() const { return DoctorSystem(dir_.path()); }

  Findings gpu() const {
    Findings findings;
    examine_gpu(system(), findings);
    return findings;
  }

 private:
  TestDir dir_;
};

const Finding& find(const Findings& findings, std::string_view name) {
  static const Finding kNone{.section = "", .name = "", .value = "there is no such finding"};
  for (const Finding& f : findings)
    if (f.name == name) return f;
  return kNone;
}

TEST(DoctorParse, versions_are_found_in_what_tools_print) {
  EXPECT_EQ(parse_nvidia_module_version("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12\n"),
            "535.183.01");
  EXPECT_EQ(parse_nvcc_version("Cuda compilation tools, release 13.0, V13.0.88\nBuild cuda_13.0.r13.0/c.1_0\n"),
            "13.0.88");
  EXPECT_EQ(first_version("mpirun (Open MPI) 4.1.4\n"), "4.1.4");
  EXPECT_EQ(first_version("NVIDIA Container Toolkit CLI version 1.17.8\ncommit: f202b80a9b9d0db00d\n"), "1.17.8");
  EXPECT_EQ(first_version("version 12 of nothing, 3."), "");
  EXPECT_EQ(cuda_version_text(13000), "13.0");
  EXPECT_EQ(cuda_version_text(12080), "12.8");
  EXPECT_EQ(nccl_version_text(22809), "2.28.9");
  EXPECT_EQ(nccl_version_text(2708), "2.7.8");
}

TEST(DoctorParse, odd_texts_give_nothing) {
  EXPECT_EQ(parse_nvidia_module_version(""), "");
  EXPECT_EQ(parse_nvcc_version("nvcc: command not found"), "");
  EXPECT_EQ(parse_unit_state("System has not been booted with systemd as init system (PID 1)."), "");
  EXPECT_FALSE(meminfo_bytes("MemTotal: much kB", "MemTotal"));
  EXPECT_FALSE(meminfo_bytes("MemTotal: 99999999999999999999 kB", "MemTotal"));
  EXPECT_FALSE(parse_memory_limit("max\n"));
  EXPECT_FALSE(parse_memory_limit("9223372036854771712\n"));
}

TEST(DoctorParse, the_systems_files_are_read) {
  EXPECT_EQ(meminfo_bytes("MemTotal:       24622092 kB\nMemFree: 1 kB\n", "MemTotal"), int64_t{24622092} * 1024);
  EXPECT_EQ(meminfo_bytes("MemTotalX: 5 kB\nMemTotal: 1 kB\n", "MemTotal"), 1024);
  EXPECT_EQ(parse_unit_state("inactive\n"), "inactive");
  EXPECT_EQ(cgroup_path("0::/user.slice/a\n", ""), "/user.slice/a");
  EXPECT_EQ(cgroup_path("5:cpu,memory:/docker/x\n1:name=systemd:/y\n", "memory"), "/docker/x");
  EXPECT_EQ(cgroup_path("1:name=systemd:/y\n", "memory"), std::nullopt);
  EXPECT_EQ(parse_memory_limit("1073741824\n"), int64_t{1} << 30);
}

TEST(DoctorCpu, it_is_said_what_the_next_instruction_set_would_need) {
  CpuFeatures f;
  EXPECT_EQ(features_missing_for(Isa::baseline, f), (std::vector<std::string>{"avx2", "fma", "f16c", "bmi2"}));
  f.avx512_bf16 = f.amx_tile = true;
  EXPECT_EQ(features_missing_for(Isa::avx512, f), (std::vector<std::string>{"amx_int8", "amx_bf16"}));
  EXPECT_TRUE(features_missing_for(Isa::amx, f).empty());
}

TEST(DoctorCpu, a_set_that_the_features_allow_is_never_said_to_lack_one) {
  CpuFeatures f;
  f.avx2 = f.fma = f.f16c = f.bmi2 = true;
  f.avx512f = f.avx512bw = f.avx512vl = f.avx512dq = f.avx512_vnni = true;
  f.avx512_bf16 = f.amx_tile = f.amx_int8 = f.amx_bf16 = true;
  ASSERT_EQ(best_isa(f, "").value(), Isa::amx);
  for (Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) EXPECT_TRUE(features_missing_for(isa, f).empty());
}

TEST(DoctorCpu, a_refused_permission_is_a_note_with_advice) {
  CpuState cpu{.isa = Isa::avx512};
  cpu.info.features.amx_tile = true;
  Findings findings;
  examine_cpu(cpu, findings);
  EXPECT_EQ(find(findings, "AMX permission").health, Health::kNote);
  EXPECT_FALSE(find(findings, "AMX permission").advice.empty());
}

TEST(DoctorMemory, the_tightest_group_limit_counts) {
  Machine m;
  m.with("/proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\n")
      .with("/proc/self/cgroup", "0::/a/b\n")
      .with("/sys/fs/cgroup/a/b/memory.max", "max\n")
      .with("/sys/fs/cgroup/a/memory.max", "2147483648\n")
      .with("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
  Findings findings;
  examine_memory(m.system(), {}, findings);
  EXPECT_EQ(find(findings, "memory").value, "8.0 GiB, 4.0 GiB available");
  EXPECT_EQ(find(findings, "control group").value, "allows 2.0 GiB");
  EXPECT_EQ(find(findings, "huge pages").health, Health::kNote);
  EXPECT_THAT(find(findings, "huge pages").advice, HasSubstr("echo madvise"));
}

TEST(DoctorGpu, a_machine_without_a_card_lacks_nothing) {
  const Findings findings = Machine().gpu();
  EXPECT_EQ(find(findings, "NVIDIA GPU").health, Health::kFine);
  EXPECT_TRUE(is_healthy(findings));
}

TEST(DoctorGpu, a_card_without_a_driver_is_told_how_to_get_one) {
  Machine m;
  const Findings findings = m.with_gpu().gpu();
  EXPECT_EQ(find(findings, "kernel module").health, Health::kMissing);
  EXPECT_THAT(find(findings, "kernel module").advice, HasSubstr("apt install nvidia-open"));
  EXPECT_TRUE(is_healthy(findings)) << "nothing that Nereid needs";
}

TEST(DoctorGpu, nouveau_in_the_way_is_named) {
  Machine m;
  m.with_gpu().with("/sys/module/nouveau/version", "");
  EXPECT_THAT(find(m.gpu(), "kernel module").advice, HasSubstr("nouveau"));
}

TEST(DoctorGpu, a_working_driver_lists_its_devices) {
  Machine m;
  m.with_gpu()
      .with_module("580.95.05")
      .with("/libraries/cuda", "error 0\nversion 13000\nlibrary 580.95.05\ndevice NVIDIA H200\n");
  const Findings findings = m.gpu();
  EXPECT_EQ(find(findings, "kernel module").value, "580.95.05");
  EXPECT_EQ(find(findings, "driver library").value, "CUDA 13.0");
  EXPECT_EQ(find(findings, "device").value, "NVIDIA H200");
}

TEST(DoctorGpu, a_library_of_another_version_than_the_module_is_explained) {
  Machine m;
  m.with_gpu().with_module("580.95.05").with("/libraries/cuda", "error 803\nlibrary 580.82.07\n");
  const Finding f = find(m.gpu(), "driver library");
  EXPECT_EQ(f.health, Health::kMissing);
  EXPECT_THAT(f.value, HasSubstr("library 580.82.07, kernel module 580.95.05"));
  EXPECT_THAT(f.advice, HasSubstr("reboot"));
}

TEST(DoctorGpu, a_container_without_the_driver_library_is_told_about_its_runtime) {
  Machine m;
  m.with_gpu().with_module("580.95.05");
  EXPECT_THAT(find(m.gpu(), "driver library").advice, HasSubstr("--gpus all"));
}

TEST(DoctorGpu, switches_need_a_fabric_manager) {
  Machine m;
  m.with_gpu().with_switch().with_module("580.95.05");
  const Finding f = find(m.gpu(), "fabric manager");
  EXPECT_EQ(f.health, Health::kMissing);
  EXPECT_THAT(f.advice, HasSubstr("nvidia-fabricmanager-580"));
}

TEST(DoctorGpu, a_fabric_manager_of_another_version_is_missing_whatever_its_state) {
  Machine m;
  m.with_gpu().with_switch().with_module("580.95.05");
  m.with("/commands/nv-fabricmanager", "Fabric Manager version is : 570.172.08\n")
      .with("/commands/systemctl", "failed\n");
  const Finding f = find(m.gpu(), "fabric manager");
  EXPECT_EQ(f.health, Health::kMissing);
  EXPECT_THAT(f.value, HasSubstr("570.172.08, failed"));
  EXPECT_THAT(f.advice, HasSubstr("nvidia-fabricmanager-580=580.95.05-1"));
}

struct UnitState {
  std::string_view state;
  Health health;
  std::string_view advice;
};

TEST(DoctorGpu, the_states_of_the_fabric_manager_have_their_advice) {
  for (const UnitState& expected :
       {UnitState{"active", Health::kFine, ""}, UnitState{"inactive", Health::kMissing, "systemctl enable --now"},
        UnitState{"failed", Health::kMissing, "journalctl -u nvidia-fabricmanager"}}) {
    Machine m;
    m.with_gpu().with_switch().with_module("580.95.05");
    m.with("/commands/nv-fabricmanager", "Fabric Manager version is : 580.95.05\n")
        .with("/commands/systemctl", std::string(expected.state) + "\n");
    const Finding f = find(m.gpu(), "fabric manager");
    EXPECT_EQ(f.health, expected.health) << expected.state;
    EXPECT_THAT(f.advice, HasSubstr(std::string(expected.advice))) << expected.state;
  }
}

TEST(DoctorGpu, companions_are_versions_or_advice) {
  Machine m;
  m.with_gpu().with_module("580.95.05").with("/libraries/nccl", "22809\n");
  m.with("/commands/nvidia-ctk", "NVIDIA Container Toolkit CLI version 1.17.8\n");
  const Findings findings = m.gpu();
  EXPECT_EQ(find(findings, "NCCL").value, "2.28.9");
  EXPECT_EQ(find(findings, "container toolkit").value, "1.17.8");
  EXPECT_EQ(find(findings, "CUDA toolkit").health, Health::kMissing);
}

TEST(DoctorReport, only_what_is_broken_makes_it_unhealthy) {
  Findings findings = {{.section = "a", .name = "x", .value = "v", .health = Health::kMissing, .advice = "do this"}};
  EXPECT_TRUE(is_healthy(findings));
  EXPECT_EQ(doctor_text(findings),
            "a\n"
            "  x                    missing: v\n"
            "                         -> do this\n"
            "\n"
            "Nereid can work here: 0 broken, 1 missing, 0 worth a look\n");
  findings.push_back({.section = "b", .name = "y", .value = "w", .health = Health::kBroken, .number = 3, .unit = "us"});
  EXPECT_FALSE(is_healthy(findings));
  EXPECT_EQ(doctor_json(findings), Json::parse(R"({"healthy": false, "findings": [
      {"section": "a", "name": "x", "value": "v", "health": "missing", "advice": "do this"},
      {"section": "b", "name": "y", "value": "w", "health": "broken", "number": 3.0, "unit": "us"}]})"));
}

}  // namespace
}  // namespace nereid::cli
