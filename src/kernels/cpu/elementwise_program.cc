// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/elementwise_program.h"

namespace nereid::kernels {

int64_t program_scratch_bytes(int input_count, int step_count, int workers) {
  return int64_t{input_count + step_count} * kProgramTile * 4 * workers;
}

}  // namespace nereid::kernels
