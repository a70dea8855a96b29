// SPDX-License-Identifier: Apache-2.0
// A device: memory, streams, events, and work that is captured once and replayed. What runs on it is not its business:
// a launch is a function of the module that owns the kernels, called with the stream's raw handle.
//
// Work is ordered within a stream and not between streams, except by events. copy(), fill(), launch() and replay() may
// return before the work is done; synchronize() waits, and tells what failed since. While a stream is being captured
// nothing of it runs. One thread at a time uses a stream; a device may be used by any number of threads.
//
// Errors: kExhausted where memory ran out (the device stays usable), kInternal for a kernel that failed, kUnavailable
// for a device that is lost; after the last two every call returns the same sentence until the process starts anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "base/status.h"

namespace nereid::device {

class Device;

enum class HandleKind : uint8_t { kMemory, kHostMemory, kStream, kEvent, kGraph };

// Something of a device's that is given back when it goes out of scope. The device outlives it.
class Handle {
 public:
  Handle() = default;
  Handle(Device& device, HandleKind kind, void* raw) : device_(&device), raw_(raw), kind_(kind) {}
  Handle(Handle&& other) noexcept { swap(other); }
  Handle& operator=(Handle&& other) noexcept {
    Handle(std::move(other)).swap(*this);
    return *this;
  }
  ~Handle();
  explicit operator bool() const { return raw_ != nullptr; }
  void* raw() const { return raw_; }

 private:
  void swap(Handle& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(raw_, other.raw_);
    std::swap(kind_, other.kind_);
  }
  Device* device_ = nullptr;
  void* raw_ = nullptr;
  HandleKind kind_ = HandleKind::kMemory;
};

// Memory of the device, or of the host where the device reads and writes it at full speed (pinned).
class Memory {
 public:
  Memory() = default;
  Memory(Handle handle, int64_t bytes) : handle_(std::move(handle)), bytes_(bytes) {}
  std::byte* data() const { return static_cast<std::byte*>(handle_.raw()); }
  int64_t bytes() const { return bytes_; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(handle_.raw());
  }
  explicit operator bool() const { return static_cast<bool>(handle_); }

 private:
  Handle handle_;
  int64_t bytes_ = 0;
};

// Each a type of its own, so that one is not passed for another.
class Stream : public Handle {
  using Handle::Handle;
};
class Event : public Handle {
  using Handle::Handle;
};
class Graph : public Handle {
  using Handle::Handle;
};

enum class Direction : uint8_t { kToDevice, kToHost, kOnDevice };

struct DeviceInfo {
  std::string id;    // "cuda:0", "cpu", "null"
  std::string name;  // "NVIDIA H200"
  int64_t memory_bytes = 0;
  int64_t cache_bytes = 0;  // the last level's
  int architecture = 0;     // 90 for compute capability 9.0; 0 where there is none
  int multiprocessors = 0;
  int driver_version = 0;  // 13000 for CUDA 13.0
};

// A function that puts work on a stream: 0, or the device's error code.
using LaunchFn = int (*)(const void* params, void* stream);

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  virtual Result<int64_t> free_bytes() = 0;

  // At least 256 bytes aligned; contents undefined.
  Result<Memory> allocate(int64_t bytes);
  Result<Memory> allocate_host(int64_t bytes);
  Result<Stream> make_stream();
  Result<Event> make_event();

  // Between pieces of memory; host memory that is not pinned makes the call wait.
  virtual Status copy(void* dst, const void* src, int64_t bytes, Direction direction, Stream& stream) = 0;
  virtual Status fill(void* dst, uint8_t byte, int64_t bytes, Stream& stream) = 0;
  // `params` of `bytes` (at most kMaxParams) are copied; trivially copyable.
  virtual Status launch(LaunchFn fn, const void* params, int64_t bytes, Stream& stream) = 0;
  virtual Status synchronize(Stream& stream) = 0;
  // Until the last record of it was reached.
  virtual Status synchronize(Event& event) = 0;

  virtual Status record(Event& event, Stream& stream) = 0;
  virtual Status wait(Stream& stream, Event& event) = 0;
  // Between two recorded events whose stream was synchronized.
  virtual Result<double> elapsed_us(Event& from, Event& to) = 0;

  // From begin_capture() to end_capture() copies, fills, launches and events of the stream become a graph. A failure in
  // between is told by end_capture(), which always ends the capture.
  virtual Status begin_capture(Stream& stream) = 0;
  virtual Result<Graph> end_capture(Stream& stream) = 0;
  virtual Status replay(Graph& graph, Stream& stream) = 0;

  static constexpr int64_t kMaxParams = 512;

 protected:
  virtual Result<void*> make(HandleKind kind, int64_t bytes) = 0;

 private:
  friend class Handle;
  virtual void destroy(HandleKind kind, void* raw) = 0;
};

// launch() with the types kept.
template <typename Params>
Status launch(Device& device, int (*fn)(const Params&, void*), const Params& params, Stream& stream) {
  static_assert(std::is_trivially_copyable_v<Params> && sizeof(Params) <= Device::kMaxParams - sizeof(fn));
  struct Call {
    int (*fn)(const Params&, void*);
    Params params;
  };
  const Call call{fn, params};
  const LaunchFn entry = [](const void* raw, void* s) {
    const auto* c = static_cast<const Call*>(raw);
    return c->fn(c->params, s);
  };
  return device.launch(entry, &call, static_cast<int64_t>(sizeof(call)), stream);
}

}  // namespace nereid::device
