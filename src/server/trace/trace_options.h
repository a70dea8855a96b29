// SPDX-License-Identifier: Apache-2.0
// What a server's tracing begins with, as --trace-config writes it.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "server/trace/trace_values.h"

namespace nereid::server::trace {

struct OtlpOptions {
  std::string url = "http://localhost:4318/v1/traces";
  std::vector<std::pair<std::string, std::string>> resource;  // attributes of the server
  int64_t max_queue = 2048;                                   // spans that wait to be sent; one more is dropped
  int64_t delay_ms = 5000;                                    // between two sends
  int64_t max_batch = 512;                                    // spans of a send
};

struct Options {
  Mode mode = Mode::kTriton;
  Values values;
  std::string file;
  OtlpOptions otlp;
};

// "rate=1", "level=TIMESTAMPS" (repeatable), "count=10", "mode=opentelemetry", "triton,file=F",
// "triton,log-frequency=N", "opentelemetry,url=U", "opentelemetry,resource=KEY=VALUE",
// "opentelemetry,bsp_schedule_delay=MS"... kInvalidArgument: what is not understood, and what there is.
Result<Options> parse_options(std::span<const std::string> texts);

}  // namespace nereid::server::trace
