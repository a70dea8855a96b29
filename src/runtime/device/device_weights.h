// SPDX-License-Identifier: Apache-2.0
// A program's constants in a device's memory, as its kernels want them: matrices row after row or repacked from the
// CPU's tiles into theirs, vectors in f32. Each once, on the way through two pieces of pinned memory.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/thread_pool.h"
#include "device/device.h"
#include "kernels/cuda/kernel_table.h"
#include "runtime/program.h"

namespace nereid::runtime {

// In which float type activations are kept beside these weights: bf16 where a matrix is, else f16.
DType activation_type(const graph::Graph& graph);

class DeviceWeights {
 public:
  DeviceWeights(std::shared_ptr<const Program> program, device::Device& device,
                const kernels::cuda::KernelTable& kernels, device::Stream& stream, ThreadPool& pool, bool floats_as_f8);

  // A packed matrix; f32 ones become `element`, and so do those of the other 16-bit type. kUnsupported: no matrix, or
  // columns that the kernels cannot have; kExhausted.
  Result<kernels::cuda::Weight> matrix(graph::ValueId id, kernels::cuda::Element element);
  // The same of a layer's product: where floats are kept as f8 (e4m3, a factor a row), so is this one.
  Result<kernels::cuda::Weight> layer_matrix(graph::ValueId id, kernels::cuda::Element element);
  // A constant vector in f32.
  Result<const float*> vector(graph::ValueId id);
  int64_t bytes() const { return bytes_; }

 private:
  // Bytes that `make(first, count, dst)` makes of `rows` rows or tiles, in parallel, copied up piece by piece.
  using MakeRows = std::function<void(int64_t first, int64_t count, std::byte* dst)>;
  Result<kernels::cuda::Weight> f8_matrix(const kernels::PackedWeight& w);
  Result<std::byte*> upload(int64_t rows, int64_t row_bytes, const MakeRows& make);

  std::shared_ptr<const Program> program_;
  device::Device& device_;
  const kernels::cuda::KernelTable& kernels_;
  device::Stream& stream_;
  ThreadPool& pool_;
  const bool floats_as_f8_;
  std::map<int32_t, kernels::cuda::Weight> matrices_, f8_matrices_;  // by value id
  std::map<int32_t, const float*> vectors_;
  std::vector<device::Memory> memory_;
  device::Memory staging_[2];
  device::Event done_[2];  // the last copy from it
  int64_t bytes_ = 0;
};

}  // namespace nereid::runtime
