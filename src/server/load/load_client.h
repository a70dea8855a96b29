// SPDX-License-Identifier: Apache-2.0
// Sends a plan's requests to a server of OpenAI's API and times what comes back. One thread, plain sockets.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "server/load/load_figures.h"
#include "server/load/planned_request.h"

namespace nereid::server::load {

struct LoadTarget {
  std::string host;  // a name, an address, or the path of a Unix socket
  int port = 80;     // 0: a Unix socket
  std::string base;  // what the URL has behind the host, without a '/' at the end and without /v1
};
// "http://host:port/base", "grpc://host:port" or "unix:PATH". kUnsupported: https.
Result<LoadTarget> parse_target(std::string_view url);

struct LoadOptions {
  LoadTarget target;
  std::string api_key;
  std::string model;
  bool is_chat = true;
  bool stops_at_end = false;  // answers may end before their length; default: ignore_eos
  int64_t shared_tokens = 0;  // of the prompts, the same in all of them
  uint64_t seed = 1;
  int64_t timeout_ms = 600'000;  // a request's
  int64_t max_connections = 1024;
};

// The whole of one small exchange. Errors: kUnavailable (nobody answers), kInternal (no valid HTTP).
struct Exchanged {
  int status = 0;
  std::string body;
};
Result<Exchanged> exchange_once(const LoadTarget& target, std::string_view method, std::string_view path,
                                std::string_view body, std::string_view api_key);
// The first model that the server lists.
Result<std::string> first_model(const LoadTarget& target, std::string_view api_key);

// `concurrency` > 0: that many connections, each sending when it is free, in the plan's order. 0: by the plan's times,
// whether others have ended or not. kCancelled: Ctrl-C. `done` hears of each request that has ended.
Result<std::vector<RequestFigures>> run_load(const LoadOptions& options, const std::vector<PlannedRequest>& plan,
                                             int64_t concurrency, const std::function<void()>& done);

}  // namespace nereid::server::load
