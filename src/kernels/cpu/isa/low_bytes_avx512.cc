// SPDX-License-Identifier: Apache-2.0
// What works on the bytes of one instruction set, which come first.
#include "kernels/cpu/isa/bytes_avx512.h"
#include "kernels/cpu/isa/low_code_rows.h"
#include "kernels/cpu/isa/low_depthwise_quads.h"
