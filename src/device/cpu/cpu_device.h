// SPDX-License-Identifier: Apache-2.0
// The host as a device: work runs in the call that asks for it, on the calling thread. What device code is tested on
// where there is no other; its kernels are functions of the host.
#pragma once

#include <memory>

#include "device/device.h"

namespace nereid::device {

std::unique_ptr<Device> make_cpu_device();

}  // namespace nereid::device
