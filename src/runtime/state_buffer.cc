// SPDX-License-Identifier: Apache-2.0
#include "runtime/state_buffer.h"

#include <cstring>

#include "base/buffer.h"

namespace nereid::runtime {
namespace {

class HostState final : public StateBuffer {
 public:
  explicit HostState(Buffer memory) : memory_(std::move(memory)) {}
  std::byte* data() const override { return memory_.data(); }
  int64_t bytes() const override { return static_cast<int64_t>(memory_.size()); }
  Status copy(int64_t from, int64_t to, int64_t bytes) override {
    std::memcpy(data() + to, data() + from, static_cast<size_t>(bytes));
    return Status::ok();
  }
  Status read(int64_t from, std::span<std::byte> dst) const override {
    std::memcpy(dst.data(), data() + from, dst.size());
    return Status::ok();
  }
  Status write(int64_t to, std::span<const std::byte> src) override {
    std::memcpy(data() + to, src.data(), src.size());
    return Status::ok();
  }

 private:
  Buffer memory_;
};

}  // namespace

Result<std::unique_ptr<StateBuffer>> make_host_state(int64_t bytes) {
  NEREID_TRY(Buffer memory, Buffer::allocate(static_cast<size_t>(bytes)));
  return std::unique_ptr<StateBuffer>(std::make_unique<HostState>(std::move(memory)));
}

}  // namespace nereid::runtime
