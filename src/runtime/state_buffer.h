// SPDX-License-Identifier: Apache-2.0
// Memory of a state (a key/value cache), on the host or on a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/status.h"

namespace nereid::runtime {

// Used by the thread that runs the contexts which have it, between runs. Offsets and sizes are in bytes and must lie
// inside (the caller's to check).
class StateBuffer {
 public:
  virtual ~StateBuffer() = default;
  virtual std::byte* data() const = 0;  // the device's address where it is a device's
  virtual int64_t bytes() const = 0;
  // Within it; the two places do not overlap.
  virtual Status copy(int64_t from, int64_t to, int64_t bytes) = 0;
  virtual Status read(int64_t from, std::span<std::byte> dst) const = 0;
  virtual Status write(int64_t to, std::span<const std::byte> src) = 0;
};

// On the host, zeroed. Small pages: a sequence touches what it uses, where 2 MiB pages would take all of a short
// context at once. kExhausted.
Result<std::unique_ptr<StateBuffer>> make_host_state(int64_t bytes);

}  // namespace nereid::runtime
