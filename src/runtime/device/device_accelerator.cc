// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/device_accelerator.h"

#include "runtime/device/device_context.h"
#include "runtime/device/device_weights.h"

namespace nereid::runtime {
namespace {

using device::Direction;

// A state in a device's memory, in the order of the stream that runs the contexts.
class DeviceState final : public StateBuffer {
 public:
  DeviceState(device::Device& device, device::Stream& stream, device::Memory memory)
      : device_(device), stream_(stream), memory_(std::move(memory)) {}
  std::byte* data() const override { return memory_.data(); }
  int64_t bytes() const override { return memory_.bytes(); }
  Status copy(int64_t from, int64_t to, int64_t bytes) override {
    return device_.copy(data() + to, data() + from, bytes, Direction::kOnDevice, stream_);
  }
  Status read(int64_t from, std::span<std::byte> dst) const override {
    NEREID_RETURN_IF_ERROR(
        device_.copy(dst.data(), data() + from, static_cast<int64_t>(dst.size()), Direction::kToHost, stream_));
    return device_.synchronize(stream_);
  }
  Status write(int64_t to, std::span<const std::byte> src) override {
    NEREID_RETURN_IF_ERROR(
        device_.copy(data() + to, src.data(), static_cast<int64_t>(src.size()), Direction::kToDevice, stream_));
    return device_.synchronize(stream_);
  }

 private:
  device::Device& device_;
  device::Stream& stream_;
  device::Memory memory_;
};

class DeviceAccelerator final : public Accelerator {
 public:
  DeviceAccelerator(std::unique_ptr<device::Device> device, const kernels::cuda::KernelTable& kernels,
                    const AcceleratorOptions& options)
      : device_(std::move(device)), kernels_(kernels), options_(options) {}

  std::string name() const override { return fmt::format("{} ({})", device_->info().id, device_->info().name); }
  Result<int64_t> free_bytes() override { return device_->free_bytes(); }
  DType cache_type(const graph::Graph& graph) const override { return activation_type(graph); }
  Result<std::unique_ptr<Context>> make_context(std::shared_ptr<const Program> program, ThreadPool& pool,
                                                const ContextOptions& options) override {
    NEREID_RETURN_IF_ERROR(make_stream());
    return make_device_context({*device_, kernels_, stream_, options_.floats_as_f8}, std::move(program), pool, options);
  }
  // Zeroed: kernels weigh what lies past a sequence's end with 0, which NaN would survive.
  Result<std::unique_ptr<StateBuffer>> make_state(int64_t bytes) override {
    NEREID_RETURN_IF_ERROR(make_stream());
    NEREID_TRY(device::Memory memory, device_->allocate(bytes).with("the key/value cache"));
    NEREID_RETURN_IF_ERROR(device_->fill(memory.data(), 0, bytes, stream_));
    return std::unique_ptr<StateBuffer>(std::make_unique<DeviceState>(*device_, stream_, std::move(memory)));
  }

 private:
  Status make_stream() {
    if (stream_) return Status::ok();
    NEREID_TRY(stream_, device_->make_stream());
    return Status::ok();
  }
  std::unique_ptr<device::Device> device_;
  const kernels::cuda::KernelTable& kernels_;
  const AcceleratorOptions options_;
  device::Stream stream_;
};

}  // namespace

std::shared_ptr<Accelerator> make_accelerator(std::unique_ptr<device::Device> device,
                                              const kernels::cuda::KernelTable& kernels,
                                              const AcceleratorOptions& options) {
  return std::make_shared<DeviceAccelerator>(std::move(device), kernels, options);
}

Result<std::shared_ptr<Accelerator>> open_accelerator(const std::string& name, const AcceleratorOptions& options) {
  NEREID_TRY(const int gpu, device::parse_cuda_name(name));
  NEREID_TRY(const NereidCudaTable* table, device::load_cuda_plugin());
  const auto* kernels = static_cast<const kernels::cuda::KernelTable*>(table->kernels);
  if (kernels == nullptr || kernels->version != kernels::cuda::kKernelTable ||
      kernels->bytes != sizeof(kernels::cuda::KernelTable))
    return unavailable("the CUDA plugin's kernels are of another version of Nereid; build it anew with `make cuda`");
  NEREID_TRY(std::unique_ptr<device::Device> device, device::open_cuda_device(*table, gpu));
  return make_accelerator(std::move(device), *kernels, options);
}

}  // namespace nereid::runtime
