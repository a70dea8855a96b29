// SPDX-License-Identifier: Apache-2.0
#include "device/null/null_device.h"

#include <map>
#include <mutex>

namespace nereid::device {
namespace {

class NullDeviceImpl final : public NullDevice {
 public:
  explicit NullDeviceImpl(int64_t memory_bytes) {
    info_.id = "null";
    info_.name = "a device that does nothing";
    info_.memory_bytes = memory_bytes;
  }
  const DeviceInfo& info() const override { return info_; }
  const NullCounts& counts() const override { return counts_; }
  Result<int64_t> free_bytes() override { return info_.memory_bytes - counts_.bytes; }

  Status copy(void*, const void*, int64_t, Direction, Stream& stream) override {
    return count(stream, &counts_.copies);
  }
  Status fill(void*, uint8_t, int64_t, Stream& stream) override { return count(stream, &counts_.fills); }
  Status launch(LaunchFn, const void*, int64_t, Stream& stream) override { return count(stream, &counts_.launches); }
  Status synchronize(Stream&) override { return Status::ok(); }
  Status synchronize(Event&) override { return Status::ok(); }
  Status record(Event&, Stream&) override { return Status::ok(); }
  Status wait(Stream&, Event&) override { return Status::ok(); }
  Result<double> elapsed_us(Event&, Event&) override { return 0.0; }

  Status begin_capture(Stream& stream) override {
    bool& captures = captures_[stream.raw()];
    if (captures) return invalid_argument("the stream is being captured already");
    captures = true;
    return Status::ok();
  }
  Result<Graph> end_capture(Stream& stream) override {
    bool& captures = captures_[stream.raw()];
    if (!captures) return invalid_argument("the stream is not being captured");
    captures = false;
    NEREID_TRY(void* raw, make(HandleKind::kGraph, 0));
    return Graph(*this, HandleKind::kGraph, raw);
  }
  Status replay(Graph&, Stream& stream) override {
    if (captures_[stream.raw()])
      return invalid_argument("a graph cannot be replayed into a stream that is being captured");
    ++counts_.replays;
    return Status::ok();
  }

 protected:
  // Addresses nobody else has; a handle is the address of nothing.
  Result<void*> make(HandleKind kind, int64_t bytes) override {
    const std::lock_guard lock(mutex_);
    if (kind == HandleKind::kMemory && bytes > info_.memory_bytes - counts_.bytes)
      return exhausted("the device has no memory for {} bytes; {} of {} are free", bytes,
                       info_.memory_bytes - counts_.bytes, info_.memory_bytes);
    if (kind == HandleKind::kMemory) counts_.bytes += bytes;
    if (kind == HandleKind::kHostMemory) counts_.host_bytes += bytes;
    const uintptr_t address = next_;
    next_ += (static_cast<uintptr_t>(bytes) / 256 + 1) * 256;
    void* raw = reinterpret_cast<void*>(address);
    sizes_[raw] = bytes;
    return raw;
  }

 private:
  void destroy(HandleKind kind, void* raw) override {
    const std::lock_guard lock(mutex_);
    const auto it = sizes_.find(raw);
    if (kind == HandleKind::kMemory) counts_.bytes -= it->second;
    if (kind == HandleKind::kHostMemory) counts_.host_bytes -= it->second;
    sizes_.erase(it);
    captures_.erase(raw);
  }
  Status count(Stream& stream, int64_t* what) {
    if (!captures_[stream.raw()]) ++*what;
    return Status::ok();
  }

  DeviceInfo info_;
  NullCounts counts_;
  std::mutex mutex_;
  uintptr_t next_ = uintptr_t{1} << 40;
  std::map<void*, int64_t> sizes_;
  std::map<void*, bool> captures_;
};

}  // namespace

std::unique_ptr<NullDevice> make_null_device(int64_t memory_bytes) {
  return std::make_unique<NullDeviceImpl>(memory_bytes);
}

}  // namespace nereid::device
