// SPDX-License-Identifier: Apache-2.0
// An HTTP server: sockets, loops and workers round a router.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/net/router.h"
#include "server/net/settings.h"
#include "server/net/transport.h"

namespace nereid::server::net {

// A request and its response, once both are over.
struct RequestRecord {
  std::string method, target, peer;
  std::string_view endpoint;  // the router's pattern; "" where there was none
  int status = 0;             // 499: the client went away before there was a response
  int64_t body_bytes = 0;     // of the response, as sent
  int64_t begin_ns = 0, end_ns = 0;
  bool is_complete = false;  // all of the response was handed to the system
};

struct ServerOptions {
  std::string host = "127.0.0.1";  // or "unix:PATH"
  int port = 8000;                 // 0: any that is free
  Settings settings;
  std::shared_ptr<TlsContext> tls;  // none: in the clear
  Router router;
  std::function<void(const RequestRecord&)> on_done;  // on a loop's thread; must return soon
};

struct ServerStats {
  int64_t connections = 0;       // open now
  int64_t requests_running = 0;  // with a handler, or their response being sent
  int64_t connections_total = 0, connections_refused = 0;
};

class Server {
 public:
  // kInvalidArgument: settings, no such host; kUnavailable: the port is taken.
  static Result<std::unique_ptr<Server>> start(ServerOptions options);
  // Ends at once what still runs. Handlers at work are told, and waited for.
  virtual ~Server() = default;

  virtual const std::string& url() const = 0;  // "http://127.0.0.1:8000"
  virtual int port() const = 0;
  virtual ServerStats stats() const = 0;
  // What is kept for the next requests. Any thread.
  virtual void give_back_memory() = 0;

  // Refuses requests from now on (those that run on the loop aside) and closes each connection after its answer, waits
  // for what runs at most Settings::drain_timeout_ms, then ends it and accepts nothing more. False: something had to be
  // ended.
  virtual bool drain() = 0;
  virtual bool is_draining() const = 0;
};

}  // namespace nereid::server::net
