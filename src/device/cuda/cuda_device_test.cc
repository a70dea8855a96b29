// SPDX-License-Identifier: Apache-2.0
// Faults of drivers and GPUs, each set off in a fake driver: every one is a sentence that says what to do.
#include "device/cuda/cuda_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/test_dir.h"
#include "device/cuda/fake_driver.h"

namespace nereid::device {
namespace {

using ::testing::HasSubstr;

Status open(const FakeDriver& driver, int gpu = 0) {
  return open_cuda_device(driver.table(), gpu).status();
}

TEST(CudaDevice, opens_on_a_driver_that_works) {
  FakeDriver driver;
  const std::unique_ptr<Device> device = open_cuda_device(driver.table(), 0).value();
  EXPECT_EQ(device->info().id, "cuda:0");
  EXPECT_EQ(device->info().name, "Fake GPU");
  EXPECT_EQ(device->info().architecture, 90);
}

TEST(CudaDevice, without_a_driver_it_says_how_to_get_one) {
  FakeDriver driver;
  driver.faults.driver_version = 0;
  EXPECT_EQ(open(driver).code(), StatusCode::kUnavailable);
  EXPECT_THAT(open(driver).message(), HasSubstr("there is no NVIDIA driver"));
  EXPECT_THAT(open(driver).message(), HasSubstr("--device cpu"));
}

TEST(CudaDevice, an_old_driver_is_told_with_both_versions) {
  FakeDriver driver;
  driver.faults.driver_version = 11040;
  driver.faults.count_error = 35;
  EXPECT_EQ(open(driver).code(), StatusCode::kUnavailable);
  EXPECT_THAT(open(driver).message(), HasSubstr("for CUDA 11.4, the plugin was built with 13.0: install a newer"));
}

TEST(CudaDevice, no_gpu_and_a_gpu_that_is_not_there_are_told_apart) {
  FakeDriver driver;
  EXPECT_EQ(open(driver, 1).code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(open(driver, 1).message(), HasSubstr("there is no GPU 1: this machine shows 1"));
  driver.faults.gpus = 0;
  driver.faults.count_error = 100;
  EXPECT_EQ(open(driver).code(), StatusCode::kUnavailable);
  EXPECT_THAT(open(driver).message(), HasSubstr("there is no GPU: run with --device cpu"));
}

TEST(CudaDevice, a_gpu_without_code_for_it_is_refused) {
  FakeDriver driver;
  driver.faults.architecture = 75;
  EXPECT_EQ(open(driver).code(), StatusCode::kUnsupported);
  EXPECT_THAT(open(driver).message(), HasSubstr("compute capability 7.5"));
  driver.faults.architecture = 120;
  driver.faults.probe_error = 209;
  EXPECT_EQ(open(driver).code(), StatusCode::kUnsupported);
  EXPECT_THAT(open(driver).message(), HasSubstr("no code for this GPU's architecture"));
}

TEST(CudaDevice, a_fabric_manager_that_does_not_run_is_named) {
  FakeDriver driver;
  driver.faults.count_error = 802;
  EXPECT_THAT(open(driver).message(), HasSubstr("systemctl enable --now nvidia-fabricmanager"));
}

TEST(CudaDevice, full_memory_fails_the_allocation_alone) {
  FakeDriver driver;
  const std::unique_ptr<Device> device = open_cuda_device(driver.table(), 0).value();
  driver.faults.fail_allocate_in = 1;
  const Status full = device->allocate(1 << 20).status();
  EXPECT_EQ(full.code(), StatusCode::kExhausted);
  EXPECT_THAT(full.message(), HasSubstr("allocating 1.0 MiB"));
  EXPECT_THAT(full.message(), HasSubstr("use a shorter --context"));
  EXPECT_TRUE(device->allocate(1 << 20).is_ok());
}

TEST(CudaDevice, after_a_kernel_error_every_call_says_the_same_and_nothing_hangs) {
  FakeDriver driver;
  const std::unique_ptr<Device> device = open_cuda_device(driver.table(), 0).value();
  Stream stream = device->make_stream().value();
  const Memory memory = device->allocate(100).value();
  driver.faults.fail_synchronize_in = 1;
  driver.faults.code = 700;
  const Status failed = device->synchronize(stream);
  EXPECT_EQ(failed.code(), StatusCode::kInternal);
  EXPECT_THAT(failed.message(), HasSubstr("touched memory that is not its own"));
  EXPECT_EQ(device->synchronize(stream).message(), failed.message());
  EXPECT_EQ(device->allocate(100).status().message(), failed.message());
}

TEST(CudaDevice, a_lost_gpu_is_unavailable) {
  FakeDriver driver;
  const std::unique_ptr<Device> device = open_cuda_device(driver.table(), 0).value();
  Stream stream = device->make_stream().value();
  driver.faults.fail_synchronize_in = 1;
  driver.faults.code = 999;
  const Status failed = device->synchronize(stream);
  EXPECT_EQ(failed.code(), StatusCode::kUnavailable);
  EXPECT_THAT(failed.message(), HasSubstr("dmesg"));
}

TEST(CudaDevice, an_unknown_code_is_told_by_its_name) {
  FakeDriver driver;
  const std::unique_ptr<Device> device = open_cuda_device(driver.table(), 0).value();
  Stream stream = device->make_stream().value();
  driver.faults.fail_synchronize_in = 1;
  driver.faults.code = 12345;
  EXPECT_THAT(device->synchronize(stream).message(), HasSubstr("12345"));
  EXPECT_TRUE(device->synchronize(stream).is_ok());
}

TEST(CudaPlugin, a_missing_or_wrong_library_is_told_with_what_to_do) {
  EXPECT_THAT(load_cuda_plugin("/no/such/plugin.so").status().message(), HasSubstr("--device cpu"));
  const TestDir dir;
  const std::string text = dir.path() + "/libnereid_cuda.so";
  std::ofstream(text) << "no library";
  EXPECT_EQ(load_cuda_plugin(text).status().code(), StatusCode::kUnavailable);
}

TEST(CudaPlugin, devices_are_named_by_number) {
  EXPECT_EQ(parse_cuda_name("cuda").value(), 0);
  EXPECT_EQ(parse_cuda_name("cuda:3").value(), 3);
  for (const char* wrong : {"cuda:", "cuda:-1", "cuda:x", "gpu", "", "cuda3"})
    EXPECT_EQ(parse_cuda_name(wrong).status().code(), StatusCode::kInvalidArgument) << wrong;
}

}  // namespace
}  // namespace nereid::device
