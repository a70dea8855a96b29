// SPDX-License-Identifier: Apache-2.0
// Sends traces to a collector by OTLP over HTTP, a batch every few seconds, from a thread of its own.
#pragma once

#include <memory>

#include "server/trace/trace_options.h"
#include "server/trace/trace_sink.h"

namespace nereid::server::trace {

// Thread-safe. A queue that is full drops what comes; a collector that does not answer is told once and loses the
// batch.
class OtlpSender : public TraceSink {
 public:
  static std::shared_ptr<OtlpSender> start(OtlpOptions options);
  void write(FinishedTrace trace) override { add(std::move(trace)); }
  virtual void add(FinishedTrace trace) = 0;
};

}  // namespace nereid::server::trace
