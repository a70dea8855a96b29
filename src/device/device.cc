// SPDX-License-Identifier: Apache-2.0
#include "device/device.h"

namespace nereid::device {

Handle::~Handle() {
  if (raw_ != nullptr) device_->destroy(kind_, raw_);
}

Result<Memory> Device::allocate(int64_t bytes) {
  if (bytes < 1) return invalid_argument("{} bytes of {} were asked for; expected at least one", bytes, info().id);
  NEREID_TRY(void* raw, make(HandleKind::kMemory, bytes));
  return Memory(Handle(*this, HandleKind::kMemory, raw), bytes);
}

Result<Memory> Device::allocate_host(int64_t bytes) {
  if (bytes < 1) return invalid_argument("{} bytes for {} were asked for; expected at least one", bytes, info().id);
  NEREID_TRY(void* raw, make(HandleKind::kHostMemory, bytes));
  return Memory(Handle(*this, HandleKind::kHostMemory, raw), bytes);
}

Result<Stream> Device::make_stream() {
  NEREID_TRY(void* raw, make(HandleKind::kStream, 0));
  return Stream(*this, HandleKind::kStream, raw);
}

Result<Event> Device::make_event() {
  NEREID_TRY(void* raw, make(HandleKind::kEvent, 0));
  return Event(*this, HandleKind::kEvent, raw);
}

}  // namespace nereid::device
