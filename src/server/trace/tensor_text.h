// SPDX-License-Identifier: Apache-2.0
// Tensors as trace files have them.
#pragma once

#include "server/trace/trace_sink.h"

namespace nereid::server::trace {

TracedTensor describe(TraceTensor where, const InferTensor& tensor);

}  // namespace nereid::server::trace
