// SPDX-License-Identifier: Apache-2.0
// Answers in a Redis server, where other servers with the same models find them too.
//
// Threads of its own talk to Redis, one a connection; what waits for one longer than it may counts as not found. A
// connection that broke is opened again, at most once a second. Entries have no age: Redis' own maxmemory-policy says
// what goes.
#pragma once

#include "server/cache/cache_options.h"

namespace nereid::server {

// kUnsupported: the program was built without hiredis. A Redis that does not answer is no error: it may come.
Result<std::shared_ptr<ResponseCache>> make_redis_cache(const RedisOptions& options);

}  // namespace nereid::server
