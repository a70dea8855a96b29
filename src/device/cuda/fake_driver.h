// SPDX-License-Identifier: Apache-2.0
// For tests: a plugin's table over host memory, with faults that a test sets off: what every machine without a GPU
// runs.
//
// Kernels are functions of the host that are called at once, or, while a stream is captured, when its graph is launched
// (they must then come through FakeDriver::run).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/cuda/plugin_table.h"

namespace nereid::device {

struct FakeFaults {
  int driver_version = 13000, runtime_version = 13000;
  int gpus = 1;
  int count_error = 0;  // of asking how many GPUs there are
  int architecture = 90;
  int probe_error = 0;
  uint64_t memory_bytes = uint64_t{1} << 30;
  // The n-th call from now on of these fails with the code (1: the next); 0: none.
  int fail_synchronize_in = 0, fail_launch_in = 0, fail_allocate_in = 0;
  int code = 719;
};

// One at a time in a process: C functions have no `this`.
class FakeDriver {
 public:
  explicit FakeDriver(const void* kernels = nullptr);
  ~FakeDriver();
  FakeDriver(const FakeDriver&) = delete;

  const NereidCudaTable& table() const { return table_; }
  FakeFaults faults;
  uint64_t allocated_bytes() const;
  int64_t launches() const;  // of graphs

  // What a host kernel calls with its work: runs it, or keeps it for the graph.
  static int run(void* stream, std::function<void()> work);

 private:
  NereidCudaTable table_{};
};

}  // namespace nereid::device
