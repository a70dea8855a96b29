// SPDX-License-Identifier: Apache-2.0
// Where hiredis was not there when the program was built.
#include "server/cache/redis_cache.h"

namespace nereid::server {

Result<std::shared_ptr<ResponseCache>> make_redis_cache(const RedisOptions&) {
  return unsupported("this program was built without hiredis (libhiredis-dev), so responses cannot be kept in Redis");
}

}  // namespace nereid::server
