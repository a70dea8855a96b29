// SPDX-License-Identifier: Apache-2.0
// The instruction that tells a CPU that it waits in a loop.
#pragma once

namespace nereid {

void cpu_pause();

}  // namespace nereid
