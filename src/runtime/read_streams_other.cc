// SPDX-License-Identifier: Apache-2.0
// Other processors: one build, for what the compiler's target has.
#include "runtime/read_streams.h"

namespace nereid::runtime {

ReadStreams* read_streams(Isa) {
  return baseline::read_streams;
}

}  // namespace nereid::runtime
