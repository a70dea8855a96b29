// SPDX-License-Identifier: Apache-2.0
// The sockets of a server that wait for connections, watched by one of its loops.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/net/listen.h"
#include "server/net/loop.h"

namespace nereid::server::net {

class Doors {
 public:
  // `take` is called on the loop's thread with each new connection, non-blocking, which is its own from then on.
  // Before the loop runs. kUnavailable: the system has no room for one more descriptor.
  Status open(const std::vector<Listener>& listeners, Loop& loop, std::function<void(int fd)> take);
  // Accepts nothing more; paths of Unix sockets go. On the loop's thread.
  void close();

 private:
  void accept_some(Watch& door);
  std::function<void(int fd)> take_;
  std::vector<std::unique_ptr<Watch>> doors_;
  std::vector<std::string> unix_paths_;
};

// What every accepted connection wants: no waiting to fill packets, and to learn of clients that are gone.
void set_connection_options(int fd);

}  // namespace nereid::server::net
