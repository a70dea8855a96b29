// SPDX-License-Identifier: Apache-2.0
// Sockets that wait for connections.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/unique_fd.h"

namespace nereid::server::net {

struct Listener {
  UniqueFd fd;           // non-blocking
  int port = 0;          // as bound; 0 for a Unix socket
  std::string url_host;  // "127.0.0.1", "[::1]", "unix:/run/nereid.sock"
  std::string unix_path;
};

// `host` is a name or an address, of which all that it stands for are listened on, or "unix:PATH". Port 0: any that is
// free. kInvalidArgument: no such host; kUnavailable: taken, or not allowed.
Result<std::vector<Listener>> listen_on(const std::string& host, int port, int backlog);

// The other end of an accepted connection: "127.0.0.1:40312", "[::1]:40312", "unix".
std::string peer_name(int fd);

// Raises the limit of open files to what the system lets this process have, at most `wanted`; returns the limit.
int64_t raise_open_files(int64_t wanted);

}  // namespace nereid::server::net
