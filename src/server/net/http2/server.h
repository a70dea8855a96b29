// SPDX-License-Identifier: Apache-2.0
// An HTTP/2 server: sockets and loops round whoever serves the requests.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server/net/http2/session.h"
#include "server/net/http2/stream.h"
#include "server/net/transport.h"

namespace nereid::server::net::http2 {

// Pings of connections whose client is silent, and how old connections may become. Milliseconds.
struct KeepAlive {
  static constexpr int64_t kNever = 0x7fff'ffff;
  int64_t time_ms = 7'200'000, timeout_ms = 20'000;
  bool without_streams = false;
  int64_t most_pings_without_data = 2;  // one after the other; 0: any number
  int64_t max_age_ms = kNever, max_age_grace_ms = kNever;
};

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;                     // 0: any that is free
  std::shared_ptr<TlsContext> tls;  // none: in the clear
  SessionLimits limits;
  KeepAlive keep_alive;
  int loop_threads = 1;
  int64_t max_connections = 16'384;
  // Serves a request, on a loop's thread: its reader, never nullptr. What it does must return soon.
  std::function<std::shared_ptr<StreamReader>(RequestHead&& head, std::shared_ptr<StreamWriter> writer)> serve;
};

class Server {
 public:
  // kInvalidArgument: no such host; kUnavailable: the port is taken.
  static Result<std::unique_ptr<Server>> start(ServerOptions options);
  // Ends at once what still runs; no reader is called after it.
  virtual ~Server() = default;
  virtual int port() const = 0;
  virtual int64_t connections() const = 0;  // open now
  // Accepts nothing more, refuses requests that come on open connections, waits at most so long for what runs, then
  // ends it. False: something had to be ended.
  virtual bool drain(int64_t timeout_ms) = 0;
};

}  // namespace nereid::server::net::http2
