// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"

namespace nereid {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kXeon =
    "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) Processor\nflags\t\t: fpu avx\n\n"
    "processor\t: 1\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) Processor\n";
constexpr std::string_view kArm =
    "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd40\n";

TEST(CpuInfo, proc_cpuinfo_of_both_families_is_understood) {
  const CpuInfoText xeon = parse_proc_cpuinfo(kXeon);
  EXPECT_EQ(xeon.vendor, "GenuineIntel");
  EXPECT_EQ(xeon.model, "Intel(R) Xeon(R) Processor");
  EXPECT_EQ(xeon.logical_cpus, 2);
  const CpuInfoText arm = parse_proc_cpuinfo(kArm);
  EXPECT_EQ(arm.vendor, "ARM");
  EXPECT_EQ(arm.model, "part 0xd40");
  EXPECT_EQ(arm.logical_cpus, 1);
  EXPECT_EQ(parse_proc_cpuinfo(":\n\n::").logical_cpus, 0);
}

TEST(CpuInfo, sizes_lists_and_modes_are_understood) {
  EXPECT_EQ(parse_cache_size("48K\n"), 48 << 10);
  EXPECT_EQ(parse_cache_size("260M"), 260 << 20);
  EXPECT_EQ(parse_cache_size(""), 0);
  EXPECT_EQ(parse_cache_size("-1K"), 0);
  EXPECT_EQ(parse_cache_size("99999999999999999999M"), 0);
  EXPECT_EQ(count_cpu_list("0-3,8\n"), 5);
  EXPECT_EQ(count_cpu_list("0"), 1);
  for (const char* odd : {"", "a", "3-1", "0-", "-1", "0x4", "0-99999999999"}) EXPECT_EQ(count_cpu_list(odd), 0) << odd;
  EXPECT_EQ(parse_huge_page_mode("always [madvise] never\n"), "madvise");
  EXPECT_EQ(parse_huge_page_mode("]["), "");
}

CpuFeatures avx2_features() {
  return {.avx = true, .avx2 = true, .fma = true, .f16c = true, .bmi2 = true};
}

CpuFeatures avx512_features() {
  CpuFeatures f = avx2_features();
  f.avx512f = f.avx512bw = f.avx512vl = f.avx512dq = f.avx512_vnni = true;
  return f;
}

CpuFeatures amx_features() {
  CpuFeatures f = avx512_features();
  f.avx512_bf16 = f.amx_tile = f.amx_int8 = f.amx_bf16 = true;
  return f;
}

TEST(Isa, each_set_needs_all_of_its_features) {
  EXPECT_EQ(best_isa(CpuFeatures{}, "").value(), Isa::baseline);
  EXPECT_EQ(best_isa(avx2_features(), "").value(), Isa::avx2);
  EXPECT_EQ(best_isa(avx512_features(), "").value(), Isa::avx512);
  EXPECT_EQ(best_isa(amx_features(), "").value(), Isa::amx);
  CpuFeatures f = avx2_features();
  f.f16c = false;
  EXPECT_EQ(best_isa(f, "").value(), Isa::baseline);
  f = amx_features();
  f.avx512_bf16 = false;
  EXPECT_EQ(best_isa(f, "").value(), Isa::avx512);
  f.avx512_vnni = false;
  EXPECT_EQ(best_isa(f, "").value(), Isa::avx2);
}

TEST(Isa, a_limit_lowers_but_never_raises) {
  EXPECT_EQ(best_isa(amx_features(), "avx2").value(), Isa::avx2);
  EXPECT_EQ(best_isa(amx_features(), "baseline").value(), Isa::baseline);
  EXPECT_EQ(best_isa(avx2_features(), "amx").value(), Isa::avx2);
  EXPECT_EQ(best_isa(avx2_features(), "AVX2").status().message(),
            "expected NEREID_ISA to be baseline, avx2, avx512 or amx, found 'AVX2'");
}

TEST(Isa, the_environment_is_the_limit) {
  const CpuInfo info{.features = avx512_features()};
  ::setenv("NEREID_ISA", "avx2", 1);
  EXPECT_EQ(best_isa(info).value(), Isa::avx2);
  ::setenv("NEREID_ISA", "sse", 1);
  EXPECT_EQ(best_isa(info).status().code(), StatusCode::kInvalidArgument);
  ::unsetenv("NEREID_ISA");
  EXPECT_EQ(best_isa(info).value(), Isa::avx512);
}

TEST(CpuInfo, this_machine_agrees_with_what_its_kernel_says) {
  const CpuInfo info = read_cpu_info();
  EXPECT_GE(info.logical_cpus, info.usable_cpus);
  const std::string text = read_file("/proc/cpuinfo", 16 << 20).value();
  const size_t at = text.find("\nflags");
  if (at == std::string::npos) GTEST_SKIP() << "the kernel lists no x86 flags on this processor";
  const std::string flags = text.substr(at, text.find('\n', at + 1) - at) + " ";
  const auto listed = [&flags](const char* flag) { return flags.find(fmt::format(" {} ", flag)) != std::string::npos; };
  EXPECT_EQ(info.features.sse42, listed("sse4_2"));
  EXPECT_EQ(info.features.avx, listed("avx"));
  EXPECT_EQ(info.features.avx2, listed("avx2"));
  EXPECT_EQ(info.features.fma, listed("fma"));
  EXPECT_EQ(info.features.f16c, listed("f16c"));
  EXPECT_EQ(info.features.bmi2, listed("bmi2"));
  EXPECT_EQ(info.features.avx_vnni, listed("avx_vnni"));
  EXPECT_EQ(info.features.avx512f, listed("avx512f"));
  EXPECT_EQ(info.features.avx512bw, listed("avx512bw"));
  EXPECT_EQ(info.features.avx512vl, listed("avx512vl"));
  EXPECT_EQ(info.features.avx512dq, listed("avx512dq"));
  EXPECT_EQ(info.features.avx512_vnni, listed("avx512_vnni"));
  EXPECT_EQ(info.features.avx512_bf16, listed("avx512_bf16"));
  EXPECT_EQ(info.features.avx512_fp16, listed("avx512_fp16"));
  EXPECT_EQ(info.features.amx_tile, listed("amx_tile"));
  EXPECT_EQ(info.features.amx_int8, listed("amx_int8"));
  EXPECT_EQ(info.features.amx_bf16, listed("amx_bf16"));
  EXPECT_EQ(request_amx_permission(), info.features.amx_tile);
}

}  // namespace
}  // namespace nereid
