// SPDX-License-Identifier: Apache-2.0
// low_depthwise_quads.h on the bytes of one instruction set, which come first.
#include "kernels/cpu/isa/bytes_avx2.h"
#include "kernels/cpu/isa/low_depthwise_quads.h"
