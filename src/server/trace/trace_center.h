// SPDX-License-Identifier: Apache-2.0
// Tracing of a server: decides which requests are traced, and where what they leave goes.
#pragma once

#include <memory>

#include "server/core/tracer.h"
#include "server/trace/trace_options.h"

namespace nereid::server::trace {

// What is still held is written when the tracer and the last traced request have gone.
std::shared_ptr<Tracer> make_tracer(Options options);

}  // namespace nereid::server::trace
