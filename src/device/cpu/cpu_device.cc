// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/cpu_device.h"

#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/memory_limits.h"

namespace nereid::device {
namespace {

constexpr size_t kAlignment = 256;

using Work = std::function<Status()>;
struct CpuGraph {
  std::vector<Work> work;
};
struct CpuStream {
  bool captures = false;
  CpuGraph captured;
};
struct CpuEvent {
  int64_t ns = 0;  // of the last record; 0: none
};

CpuStream& of(Stream& stream) {
  return *static_cast<CpuStream*>(stream.raw());
}

class CpuDevice final : public Device {
 public:
  CpuDevice() {
    info_.id = "cpu";
    info_.name = "this machine";
    info_.memory_bytes = available_memory_bytes();
  }
  const DeviceInfo& info() const override { return info_; }
  Result<int64_t> free_bytes() override { return available_memory_bytes(); }

  Status copy(void* dst, const void* src, int64_t bytes, Direction, Stream& stream) override {
    return run(stream, [=] {
      std::memmove(dst, src, static_cast<size_t>(bytes));
      return Status::ok();
    });
  }
  Status fill(void* dst, uint8_t byte, int64_t bytes, Stream& stream) override {
    return run(stream, [=] {
      std::memset(dst, byte, static_cast<size_t>(bytes));
      return Status::ok();
    });
  }
  Status launch(LaunchFn fn, const void* params, int64_t bytes, Stream& stream) override {
    const auto* first = static_cast<const std::byte*>(params);
    return run(stream, [fn, copied = std::vector<std::byte>(first, first + bytes), raw = stream.raw()] {
      if (const int code = fn(copied.data(), raw); code != 0) return internal("a kernel failed with code {}", code);
      return Status::ok();
    });
  }
  Status synchronize(Stream&) override { return Status::ok(); }
  Status synchronize(Event&) override { return Status::ok(); }

  Status record(Event& event, Stream& stream) override {
    auto* e = static_cast<CpuEvent*>(event.raw());
    return run(stream, [e] {
      e->ns = now_ns();
      return Status::ok();
    });
  }
  Status wait(Stream&, Event&) override { return Status::ok(); }
  Result<double> elapsed_us(Event& from, Event& to) override {
    const auto *a = static_cast<CpuEvent*>(from.raw()), *b = static_cast<CpuEvent*>(to.raw());
    if (a->ns == 0 || b->ns == 0) return invalid_argument("an event was not recorded, so no time lies between the two");
    return static_cast<double>(b->ns - a->ns) / 1e3;
  }

  Status begin_capture(Stream& stream) override {
    if (of(stream).captures) return invalid_argument("the stream is being captured already");
    of(stream).captures = true;
    return Status::ok();
  }
  Result<Graph> end_capture(Stream& stream) override {
    CpuStream& s = of(stream);
    if (!s.captures) return invalid_argument("the stream is not being captured");
    s.captures = false;
    return Graph(*this, HandleKind::kGraph, new CpuGraph(std::exchange(s.captured, {})));
  }
  Status replay(Graph& graph, Stream& stream) override {
    if (of(stream).captures) return invalid_argument("a graph cannot be replayed into a stream that is being captured");
    for (const Work& work : static_cast<CpuGraph*>(graph.raw())->work) NEREID_RETURN_IF_ERROR(work());
    return Status::ok();
  }

 protected:
  Result<void*> make(HandleKind kind, int64_t bytes) override {
    switch (kind) {
      case HandleKind::kStream:
        return static_cast<void*>(new CpuStream);
      case HandleKind::kEvent:
        return static_cast<void*>(new CpuEvent);
      case HandleKind::kGraph:
        return static_cast<void*>(new CpuGraph);
      default:
        break;
    }
    if (bytes > available_memory_bytes())
      return exhausted("{} bytes of memory were asked for, {} are there", bytes, available_memory_bytes());
    const size_t rounded = (static_cast<size_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
    void* memory = std::aligned_alloc(kAlignment, rounded);
    if (memory == nullptr) return exhausted("there is no memory for {} bytes", bytes);
    return memory;
  }

 private:
  Status run(Stream& stream, Work work) {
    if (!of(stream).captures) return work();
    of(stream).captured.work.push_back(std::move(work));
    return Status::ok();
  }
  void destroy(HandleKind kind, void* raw) override {
    switch (kind) {
      case HandleKind::kStream:
        delete static_cast<CpuStream*>(raw);
        break;
      case HandleKind::kEvent:
        delete static_cast<CpuEvent*>(raw);
        break;
      case HandleKind::kGraph:
        delete static_cast<CpuGraph*>(raw);
        break;
      default:
        std::free(raw);
    }
  }
  DeviceInfo info_;
};

}  // namespace

std::unique_ptr<Device> make_cpu_device() {
  return std::make_unique<CpuDevice>();
}

}  // namespace nereid::device
