// SPDX-License-Identifier: Apache-2.0
// A device that does nothing and counts: what would be allocated, copied and launched. The folder to clone for a new
// device.
#pragma once

#include <memory>

#include "device/device.h"

namespace nereid::device {

struct NullCounts {
  int64_t bytes = 0, host_bytes = 0;  // allocated now
  int64_t copies = 0, fills = 0, launches = 0, replays = 0;
};

class NullDevice : public Device {
 public:
  virtual const NullCounts& counts() const = 0;
};

// With so much memory, none of which can be touched.
std::unique_ptr<NullDevice> make_null_device(int64_t memory_bytes);

}  // namespace nereid::device
