// SPDX-License-Identifier: Apache-2.0
// Traces as spans of OpenTelemetry, in the JSON of OTLP/HTTP:
// https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "server/trace/trace_sink.h"

namespace nereid::server::trace {

struct SpanIds {
  // Ids are bytes that no other trace has; 8 of them at a call.
  std::function<uint64_t()> random;
  int64_t unix_offset_ns = 0;  // of the system's clock over now_ns()
};

// Spans of one trace, each an object: the request, a model below it for each model that answered, and "compute" below
// that. A traceparent that is well formed (W3C Trace Context) gives trace and parent.
std::vector<std::string> spans_of(const FinishedTrace& trace, const SpanIds& ids);
// The body of a request to a collector.
std::string export_text(std::span<const std::string> spans,
                        std::span<const std::pair<std::string, std::string>> resource);

}  // namespace nereid::server::trace
