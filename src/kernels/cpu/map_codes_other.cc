// SPDX-License-Identifier: Apache-2.0
// Which way to look codes up where there is one.
#include "kernels/cpu/low_precision.h"
#include "kernels/cpu/map_codes.h"

namespace nereid::kernels {

MapCodes map_codes_of(Isa) {
  return map_codes_singly;
}

}  // namespace nereid::kernels
