// SPDX-License-Identifier: Apache-2.0
// What low_precision.cc chooses from.
#pragma once

#include "base/thread_pool.h"
#include "kernels/cpu/low_precision.h"

namespace nereid::kernels::NEREID_ISA {

void low_depthwise(const LowConvParams& p, Worker& worker);
void low_depthwise_quads(const LowConvParams& p, Worker& worker);

}  // namespace nereid::kernels::NEREID_ISA
