// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/cuda_device.h"

#include <mutex>

#include "device/cuda/cuda_faults.h"

namespace nereid::device {
namespace {

constexpr int kLeastArchitecture = 80;
constexpr std::string_view kGpus = "CUDA_VISIBLE_DEVICES may hide some";

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

class CudaDevice final : public Device {
 public:
  CudaDevice(const NereidCudaTable& table, int gpu) : table_(table), gpu_(gpu) {}

  Status open(int driver_version) {
    NEREID_RETURN_IF_ERROR(told(table_.select(gpu_), "selecting it"));
    NereidCudaGpu found{};
    NEREID_RETURN_IF_ERROR(told(table_.describe(gpu_, &found), "reading its properties"));
    info_ = {.id = fmt::format("cuda:{}", gpu_),
             .name = found.name,
             .memory_bytes = static_cast<int64_t>(found.memory_bytes),
             .cache_bytes = static_cast<int64_t>(found.cache_bytes),
             .architecture = found.architecture,
             .multiprocessors = found.multiprocessors,
             .driver_version = driver_version};
    if (info_.architecture < kLeastArchitecture)
      return unsupported(
          "the GPU {} ({}) has compute capability {}.{}; the plugin has code from 8.0 on: use a newer GPU, or "
          "--device cpu",
          gpu_, info_.name, info_.architecture / 10, info_.architecture % 10);
    return told(table_.probe(), "a first kernel");
  }

  const DeviceInfo& info() const override { return info_; }
  Result<int64_t> free_bytes() override {
    size_t bytes = 0;
    NEREID_RETURN_IF_ERROR(call("asking for its free memory", [&] { return table_.free_bytes(&bytes); }));
    return static_cast<int64_t>(bytes);
  }

  Status copy(void* dst, const void* src, int64_t bytes, Direction direction, Stream& stream) override {
    return call("copying", [&] {
      return table_.copy(dst, src, static_cast<size_t>(bytes), static_cast<int>(direction), stream.raw());
    });
  }
  Status fill(void* dst, uint8_t byte, int64_t bytes, Stream& stream) override {
    return call("filling memory", [&] { return table_.fill(dst, byte, static_cast<size_t>(bytes), stream.raw()); });
  }
  Status launch(LaunchFn fn, const void* params, int64_t, Stream& stream) override {
    return call("starting a kernel", [&] { return fn(params, stream.raw()); });
  }
  Status synchronize(Stream& stream) override {
    return call("running kernels", [&] { return table_.stream_synchronize(stream.raw()); });
  }
  Status synchronize(Event& event) override {
    return call("running kernels", [&] { return table_.event_synchronize(event.raw()); });
  }
  Status record(Event& event, Stream& stream) override {
    return call("recording an event", [&] { return table_.event_record(event.raw(), stream.raw()); });
  }
  Status wait(Stream& stream, Event& event) override {
    return call("waiting for an event", [&] { return table_.event_wait(stream.raw(), event.raw()); });
  }
  Result<double> elapsed_us(Event& from, Event& to) override {
    float ms = 0;
    NEREID_RETURN_IF_ERROR(call("timing", [&] { return table_.event_elapsed_ms(&ms, from.raw(), to.raw()); }));
    return static_cast<double>(ms) * 1e3;
  }
  Status begin_capture(Stream& stream) override {
    return call("capturing", [&] { return table_.capture_begin(stream.raw()); });
  }
  Result<Graph> end_capture(Stream& stream) override {
    void* raw = nullptr;
    NEREID_RETURN_IF_ERROR(call("capturing", [&] { return table_.capture_end(stream.raw(), &raw); }));
    return Graph(*this, HandleKind::kGraph, raw);
  }
  Status replay(Graph& graph, Stream& stream) override {
    return call("starting a graph", [&] { return table_.graph_launch(graph.raw(), stream.raw()); });
  }

 protected:
  Result<void*> make(HandleKind kind, int64_t bytes) override {
    void* raw = nullptr;
    const auto size = static_cast<size_t>(bytes);
    const std::string doing =
        bytes > 0 ? fmt::format("allocating {:.1f} MiB", static_cast<double>(bytes) / (1 << 20)) : "making a handle";
    NEREID_RETURN_IF_ERROR(call(doing, [&] {
      switch (kind) {
        case HandleKind::kMemory:
          return table_.allocate(&raw, size);
        case HandleKind::kHostMemory:
          return table_.allocate_host(&raw, size);
        case HandleKind::kStream:
          return table_.stream_create(&raw);
        default:
          return table_.event_create(&raw);
      }
    }));
    return raw;
  }

 private:
  // A lost GPU is given nothing back: its memory went with its context.
  void destroy(HandleKind kind, void* raw) override {
    if (!lost().is_ok() || table_.select(gpu_) != 0) return;
    switch (kind) {
      case HandleKind::kMemory:
        table_.release(raw);
        break;
      case HandleKind::kHostMemory:
        table_.release_host(raw);
        break;
      case HandleKind::kStream:
        table_.stream_destroy(raw);
        break;
      case HandleKind::kEvent:
        table_.event_destroy(raw);
        break;
      case HandleKind::kGraph:
        table_.graph_destroy(raw);
        break;
    }
  }

  template <typename F>
  Status call(std::string_view doing, const F& f) {
    NEREID_RETURN_IF_ERROR(lost());
    if (const int code = table_.select(gpu_); code != 0) return told(code, "selecting it");
    return told(f(), doing);
  }
  Status told(int code, std::string_view doing) {
    if (code == 0) return Status::ok();
    CudaFault fault = explain_cuda(table_, code, doing);
    if (fault.is_lost) {
      const std::lock_guard lock(mutex_);
      lost_ = fault.status;
    }
    return std::move(fault.status);
  }
  Status lost() {
    const std::lock_guard lock(mutex_);
    return lost_;
  }

  const NereidCudaTable& table_;
  const int gpu_;
  DeviceInfo info_;
  std::mutex mutex_;
  Status lost_;
};

}  // namespace

Result<std::unique_ptr<Device>> open_cuda_device(const NereidCudaTable& table, int gpu) {
  int driver = 0, runtime = 0, count = 0;
  int code = table.driver_version(&driver);
  if (code == 0) code = table.runtime_version(&runtime);
  if (code == 0 && driver == 0)
    return unavailable(
        "there is no NVIDIA driver (libcuda.so.1): install it, start the container with the NVIDIA runtime "
        "(docker run --gpus all), or run with --device cpu");
  if (code == 0) code = table.count(&count);
  if (code == kCudaOldDriver)
    return unavailable(
        "the NVIDIA driver is for CUDA {}, the plugin was built with {}: install a newer driver (580 or later for CUDA "
        "13) and reboot, or run with --device cpu",
        version_text(driver), version_text(runtime));
  if (code != 0) return explain_cuda(table, code, "looking for GPUs").status;
  if (count == 0) return explain_cuda(table, kCudaNoGpu, "looking for GPUs").status;
  if (gpu < 0 || gpu >= count)
    return invalid_argument("there is no GPU {}: this machine shows {} ({})", gpu, count, kGpus);
  auto device = std::make_unique<CudaDevice>(table, gpu);
  NEREID_RETURN_IF_ERROR(device->open(driver).with(fmt::format("GPU {}", gpu)));
  return std::unique_ptr<Device>(std::move(device));
}

}  // namespace nereid::device
