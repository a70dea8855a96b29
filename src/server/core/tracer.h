// SPDX-License-Identifier: Apache-2.0
// Which requests are traced, by settings of the server and of single models that clients read and change: what
// protocols ask. server/trace implements it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "server/core/request_trace.h"

namespace nereid::server {

// A setting's name and values, as requests write them: {"trace_rate", {"1000"}}.
using TraceSetting = std::pair<std::string, std::vector<std::string>>;
// What to change; no values: the setting is given back to the server's (or, of the server, to its start's).
using TraceChange = std::pair<std::string, std::optional<std::vector<std::string>>>;

struct TracedRequest {
  std::string_view model;
  int64_t version = 1;
  std::string_view request_id;
  std::string_view traceparent;  // of the W3C's Trace Context; "": none came
};

// Thread-safe.
class Tracer {
 public:
  virtual ~Tracer() = default;
  // nullptr: this one is not traced.
  virtual std::shared_ptr<RequestTrace> begin(const TracedRequest& request) = 0;
  // Of the server for "", in the order in which they are answered.
  virtual std::vector<TraceSetting> settings(const std::string& model) const = 0;
  // All or none of them. kInvalidArgument: a setting that there is not, or a value that is not understood;
  // kUnsupported: a setting that cannot be changed while the server runs.
  virtual Status change(const std::string& model, const std::vector<TraceChange>& changes) = 0;
};

}  // namespace nereid::server
