// SPDX-License-Identifier: Apache-2.0
// RequestTrace as whoever has a part in a request holds it.
#pragma once

#include <atomic>
#include <memory>

#include "server/core/tracer.h"
#include "server/trace/trace_sink.h"

namespace nereid::server::trace {

struct RecordOptions {
  std::shared_ptr<TraceSink> sink;
  std::shared_ptr<std::atomic<uint64_t>> ids;  // the last id that was given
  bool has_tensors = false;
};

std::shared_ptr<RequestTrace> make_record(const TracedRequest& request, RecordOptions options);

}  // namespace nereid::server::trace
