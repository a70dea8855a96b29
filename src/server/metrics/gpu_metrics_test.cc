// SPDX-License-Identifier: Apache-2.0
// What GPUs tell becomes lines; what they do not tell becomes none.
#include "server/metrics/gpu_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace nereid::server::metrics {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

int handles[2];
unsigned long long energy_mj = 5000;
bool tells_power = true;

NvmlTable two_gpus() {
  return {.init = [] { return 0; },
          .count =
              [](unsigned* count) {
                *count = 2;
                return 0;
              },
          .handle =
              [](unsigned index, void** gpu) {
                *gpu = &handles[index];
                return 0;
              },
          .uuid =
              [](void* gpu, char* text, unsigned) {
                std::strcpy(text, gpu == &handles[0] ? "GPU-a" : "GPU-b");
                return 0;
              },
          .utilization =
              [](void* gpu, NvmlUtilization* u) {
                u->gpu = gpu == &handles[0] ? 37 : 100;
                return 0;
              },
          .memory =
              [](void*, NvmlMemory* m) {
                *m = {.total = 1000, .free = 400, .used = 600};
                return 0;
              },
          .power_usage =
              [](void*, unsigned* milliwatts) {
                *milliwatts = 250500;
                return tells_power ? 0 : 3;
              },
          .power_limit =
              [](void*, unsigned* milliwatts) {
                *milliwatts = 700000;
                return 0;
              },
          .energy =
              [](void*, unsigned long long* millijoules) {
                *millijoules = energy_mj;
                return 0;
              }};
}

TEST(GpuMetrics, each_gpu_has_a_line_in_each_family) {
  const GpuMeter meter(two_gpus());
  energy_mj += 1500;
  const std::string text = meter.text();
  for (const char* line :
       {"# TYPE nv_gpu_utilization gauge\nnv_gpu_utilization{gpu_uuid=\"GPU-a\"} "
        "0.37\nnv_gpu_utilization{gpu_uuid=\"GPU-b\"} 1\n",
        "nv_gpu_memory_total_bytes{gpu_uuid=\"GPU-a\"} 1000\n", "nv_gpu_memory_used_bytes{gpu_uuid=\"GPU-b\"} 600\n",
        "nv_gpu_power_usage{gpu_uuid=\"GPU-a\"} 250.5\n", "nv_gpu_power_limit{gpu_uuid=\"GPU-a\"} 700\n",
        "# TYPE nv_energy_consumption counter\nnv_energy_consumption{gpu_uuid=\"GPU-a\"} 1.5\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(GpuMetrics, what_a_gpu_does_not_tell_has_no_line) {
  const GpuMeter meter(two_gpus());
  tells_power = false;
  EXPECT_THAT(meter.text(), Not(HasSubstr("nv_gpu_power_usage{")));
  EXPECT_THAT(meter.text(), HasSubstr("nv_gpu_power_limit{"));
  tells_power = true;
}

TEST(GpuMetrics, a_library_that_does_not_begin_shows_no_gpus) {
  NvmlTable broken = two_gpus();
  broken.init = [] { return 9; };
  EXPECT_FALSE(GpuMeter(broken).has_gpus());
  EXPECT_EQ(GpuMeter(broken).text(), "");
  EXPECT_EQ(GpuMeter(NvmlTable{}).text(), "");
}

}  // namespace
}  // namespace nereid::server::metrics
