// SPDX-License-Identifier: Apache-2.0
// The machine as the doctor sees it: files, programs and libraries; or a folder that stands for another machine.
//
// Below a root folder, files lie under their own paths; what a program prints is the file commands/<program>, what a
// library answers the file libraries/<name>. What has no file is not there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::cli {

// A CUDA driver, or why it does not answer.
struct CudaDriver {
  std::string library_version;  // "580.95.05", of the file that libcuda.so.1 is; empty: unknown
  int error = 0;                // of cuInit
  int version = 0;              // 13000: CUDA 13.0
  std::vector<std::string> devices;
};

class DoctorSystem {
 public:
  explicit DoctorSystem(std::string root = "") : root_(std::move(root)) {}

  bool is_real() const { return root_.empty(); }
  // Nothing when the file is absent, longer than 1 MiB or may not be read.
  std::optional<std::string> read(const std::string& path) const;
  bool exists(const std::string& path) const;
  // Names in a folder, sorted; empty when it is absent.
  std::vector<std::string> list(const std::string& path) const;
  // What a program prints (both streams), whatever its exit code; nothing when it is absent or takes over 10 s.
  std::optional<std::string> command(const std::vector<std::string>& argv) const;
  // Nothing when there is no libcuda.so.1.
  std::optional<CudaDriver> cuda() const;
  // ncclGetVersion(), 22809 for 2.28.9; nothing when there is no libnccl.so.2.
  std::optional<int> nccl_version() const;

 private:
  std::string root_;
};

// The form of libraries/cuda: "error 0", "version 13000", "library 580.95.05", "device NVIDIA H200" lines.
CudaDriver parse_cuda_answer(std::string_view text);

}  // namespace nereid::cli
