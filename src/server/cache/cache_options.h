// SPDX-License-Identifier: Apache-2.0
// What --cache-config says: a place, and settings of it: "local,size=1048576", "redis,host=localhost",
// "redis,port=6379".
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "server/cache/response_cache.h"

namespace nereid::server {

struct RedisOptions {
  std::string host;
  int port = 6379;
  std::string user, password;  // "": none
  int db = 0;
  int64_t connect_timeout_ms = 1000, socket_timeout_ms = 1000;
  int pool_size = 1;               // connections, each with a thread
  int64_t wait_timeout_ms = 1000;  // that a request waits for a connection
};

struct CacheOptions {
  std::string place;  // "": none
  size_t local_bytes = 0;
  RedisOptions redis;
};

// kInvalidArgument with the setting at fault. Settings of several texts come together; two places are an error.
Result<CacheOptions> parse_cache_options(const std::vector<std::string>& texts);
// nullptr where no place is named. kUnsupported: the program was built without it.
Result<std::shared_ptr<ResponseCache>> open_cache(const CacheOptions& options);

}  // namespace nereid::server
