// SPDX-License-Identifier: Apache-2.0
// What every device does, whatever it is: one suite over the CPU, the null device, the CUDA device on a fake driver,
// and a real GPU where there is one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "device/cpu/cpu_device.h"
#include "device/cuda/cuda_device.h"
#include "device/cuda/fake_driver.h"
#include "device/null/null_device.h"

namespace nereid::device {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMemory = int64_t{1} << 30;

// A device and what it rests on.
struct Subject {
  std::unique_ptr<FakeDriver> driver;
  std::unique_ptr<Device> device;
  std::string why_not;  // no device: why
};

// What a suite's case may not ask of a device, and why. A row that is not needed any more fails its case.
struct Exclusion {
  std::string_view device, test, reason;
};
constexpr Exclusion kExclusions[] = {
    {"null", "what_is_copied_in_comes_back", "it keeps nothing"},
    {"null", "memory_is_filled", "it keeps nothing"},
    {"null", "a_graph_does_again_what_was_captured", "it keeps nothing"},
    {"null", "nothing_of_a_capture_runs_before_its_graph_does", "it keeps nothing"},
    {"null", "streams_wait_for_events", "it keeps nothing"},
};

Subject make_subject(const std::string& kind) {
  Subject s;
  if (kind == "cpu") s.device = make_cpu_device();
  if (kind == "null") s.device = make_null_device(kMemory);
  if (kind == "fake_cuda") {
    s.driver = std::make_unique<FakeDriver>();
    s.device = open_cuda_device(s.driver->table(), 0).value();
  }
  if (kind == "cuda") {
    const Result<const NereidCudaTable*> table = load_cuda_plugin();
    Result<std::unique_ptr<Device>> device = table.is_ok() ? open_cuda_device(**table, 0) : table.status();
    if (device.is_ok())
      s.device = std::move(device).value();
    else
      s.why_not = device.status().message();
  }
  return s;
}

class DeviceConformance : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    subject_ = make_subject(GetParam());
    if (!subject_.device) GTEST_SKIP() << subject_.why_not;
    const std::string test = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    for (const Exclusion& e : kExclusions)
      excluded_ |= e.device == GetParam() && test.starts_with(std::string(e.test) + "/");
    stream_ = device().make_stream().value();
  }
  void TearDown() override {
    EXPECT_FALSE(excluded_ && all_held_) << "the device does it: take its row out of kExclusions";
  }
  Device& device() { return *subject_.device; }
  // EXPECT_EQ, unless the device is excused.
  void expect_equal(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
    all_held_ &= a == b;
    if (!excluded_) {
      EXPECT_EQ(a, b);
    }
  }
  std::vector<uint8_t> read(const Memory& memory) {
    std::vector<uint8_t> out(static_cast<size_t>(memory.bytes()));
    if (!host_) host_ = device().allocate_host(kBytes).value();
    const bool is_null = GetParam() == "null";
    EXPECT_TRUE(device().copy(host_.data(), memory.data(), memory.bytes(), Direction::kToHost, stream_).is_ok());
    EXPECT_TRUE(device().synchronize(stream_).is_ok());
    if (!is_null) std::memcpy(out.data(), host_.data(), out.size());
    return out;
  }
  Memory written(const std::vector<uint8_t>& bytes) {
    Memory memory = device().allocate(static_cast<int64_t>(bytes.size())).value();
    EXPECT_TRUE(device().copy(memory.data(), bytes.data(), memory.bytes(), Direction::kToDevice, stream_).is_ok());
    EXPECT_TRUE(device().synchronize(stream_).is_ok());
    return memory;
  }
  static std::vector<uint8_t> counted() {
    std::vector<uint8_t> bytes(kBytes);
    std::iota(bytes.begin(), bytes.end(), uint8_t{1});
    return bytes;
  }

  static constexpr int64_t kBytes = 1000;
  Subject subject_;
  Stream stream_;
  Memory host_;
  bool excluded_ = false, all_held_ = true;
};

TEST_P(DeviceConformance, it_says_what_it_is) {
  EXPECT_FALSE(device().info().id.empty());
  EXPECT_FALSE(device().info().name.empty());
  EXPECT_GT(device().info().memory_bytes, 0);
  all_held_ = !excluded_;
}

TEST_P(DeviceConformance, memory_is_aligned_and_counted_as_free_again) {
  const int64_t before = device().free_bytes().value();
  {
    const Memory memory = device().allocate(kBytes).value();
    EXPECT_EQ(memory.bytes(), kBytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % 256, 0u);
  }
  if (GetParam() != "cpu" && GetParam() != "cuda") {
    EXPECT_EQ(device().free_bytes().value(), before);
  }
  EXPECT_EQ(device().allocate(0).status().code(), StatusCode::kInvalidArgument);
}

TEST_P(DeviceConformance, more_memory_than_there_is_is_refused_and_the_device_lives_on) {
  const Result<Memory> memory = device().allocate(int64_t{1} << 50);
  ASSERT_FALSE(memory.is_ok());
  EXPECT_EQ(memory.status().code(), StatusCode::kExhausted);
  EXPECT_TRUE(device().allocate(kBytes).is_ok());
}

TEST_P(DeviceConformance, what_is_copied_in_comes_back) {
  const Memory a = written(counted());
  Memory b = device().allocate(kBytes).value();
  EXPECT_TRUE(device().copy(b.data(), a.data(), kBytes, Direction::kOnDevice, stream_).is_ok());
  expect_equal(read(b), counted());
}

TEST_P(DeviceConformance, memory_is_filled) {
  const Memory memory = written(counted());
  EXPECT_TRUE(device().fill(memory.data(), 7, kBytes / 2, stream_).is_ok());
  std::vector<uint8_t> expected = counted();
  std::fill_n(expected.begin(), kBytes / 2, uint8_t{7});
  expect_equal(read(memory), expected);
}

TEST_P(DeviceConformance, nothing_of_a_capture_runs_before_its_graph_does) {
  const Memory memory = written(counted());
  ASSERT_TRUE(device().begin_capture(stream_).is_ok());
  EXPECT_TRUE(device().fill(memory.data(), 7, kBytes, stream_).is_ok());
  Graph graph = device().end_capture(stream_).value();
  expect_equal(read(memory), counted());
  EXPECT_TRUE(device().replay(graph, stream_).is_ok());
  expect_equal(read(memory), std::vector<uint8_t>(kBytes, 7));
}

TEST_P(DeviceConformance, a_graph_does_again_what_was_captured) {
  Memory a = written(counted()), b = written(std::vector<uint8_t>(kBytes, 0));
  ASSERT_TRUE(device().begin_capture(stream_).is_ok());
  EXPECT_TRUE(device().copy(b.data(), a.data(), kBytes, Direction::kOnDevice, stream_).is_ok());
  Graph graph = device().end_capture(stream_).value();
  for (const uint8_t value : {3, 4}) {
    EXPECT_TRUE(device().fill(a.data(), value, kBytes, stream_).is_ok());
    EXPECT_TRUE(device().replay(graph, stream_).is_ok());
    expect_equal(read(b), std::vector<uint8_t>(kBytes, value));
  }
}

TEST_P(DeviceConformance, a_capture_is_begun_and_ended_once) {
  EXPECT_FALSE(device().end_capture(stream_).is_ok());
  ASSERT_TRUE(device().begin_capture(stream_).is_ok());
  EXPECT_FALSE(device().begin_capture(stream_).is_ok());
  EXPECT_TRUE(device().end_capture(stream_).is_ok());
  EXPECT_FALSE(device().end_capture(stream_).is_ok());
}

TEST_P(DeviceConformance, streams_wait_for_events) {
  Stream other = device().make_stream().value();
  Event done = device().make_event().value();
  Memory memory = written(std::vector<uint8_t>(kBytes, 0));
  EXPECT_TRUE(device().fill(memory.data(), 9, kBytes, other).is_ok());
  EXPECT_TRUE(device().record(done, other).is_ok());
  EXPECT_TRUE(device().wait(stream_, done).is_ok());
  expect_equal(read(memory), std::vector<uint8_t>(kBytes, 9));
}

TEST_P(DeviceConformance, time_between_events_is_not_negative) {
  Event from = device().make_event().value(), to = device().make_event().value();
  EXPECT_TRUE(device().record(from, stream_).is_ok());
  EXPECT_TRUE(device().record(to, stream_).is_ok());
  EXPECT_TRUE(device().synchronize(stream_).is_ok());
  EXPECT_GE(device().elapsed_us(from, to).value(), 0);
}

INSTANTIATE_TEST_SUITE_P(Each, DeviceConformance, ::testing::Values("cpu", "null", "fake_cuda", "cuda"),
                         [](const auto& one) { return one.param; });

TEST(CpuDevice, a_kernel_gets_its_parameters_and_its_failure_is_told) {
  const std::unique_ptr<Device> device = make_cpu_device();
  Stream stream = device->make_stream().value();
  struct Params {
    int* to;
    int value;
  };
  int got = 0;
  int (*kernel)(const Params&, void*) = [](const Params& p, void*) { return *p.to = p.value, p.value; };
  EXPECT_TRUE(launch(*device, kernel, Params{&got, 0}, stream).is_ok());
  const Status failed = launch(*device, kernel, Params{&got, 5}, stream);
  EXPECT_EQ(got, 5);
  EXPECT_EQ(failed.code(), StatusCode::kInternal);
}

TEST(NullDevice, it_counts) {
  const std::unique_ptr<NullDevice> device = make_null_device(kMemory);
  Stream stream = device->make_stream().value();
  const Memory memory = device->allocate(1000).value();
  EXPECT_EQ(device->counts().bytes, 1000);
  EXPECT_TRUE(device->fill(memory.data(), 0, 1000, stream).is_ok());
  EXPECT_EQ(device->counts().fills, 1);
}

}  // namespace
}  // namespace nereid::device
