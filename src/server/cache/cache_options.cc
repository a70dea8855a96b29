// SPDX-License-Identifier: Apache-2.0
#include "server/cache/cache_options.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "server/cache/local_cache.h"
#include "server/cache/redis_cache.h"

namespace nereid::server {
namespace {

Result<int64_t> number_of(std::string_view name, std::string_view value, int64_t least, int64_t most) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || number < least || number > most)
    return invalid_argument("--cache-config: {} is '{}'; it is a whole number from {} to {}", name, value, least, most);
  return number;
}

Status set_local(std::string_view name, std::string_view value, CacheOptions* options) {
  if (name != "size")
    return invalid_argument("--cache-config: the cache 'local' has no setting '{}'; it has size, in bytes", name);
  NEREID_TRY(const int64_t bytes, number_of(name, value, 1, int64_t{1} << 50));
  options->local_bytes = static_cast<size_t>(bytes);
  return Status::ok();
}

struct RedisNumber {
  std::string_view name;
  int64_t least, most;
  void (*set)(RedisOptions* to, int64_t value);
};

constexpr int64_t kMostMs = 86'400'000;
constexpr RedisNumber kRedisNumbers[] = {
    {"port", 1, 65535, [](RedisOptions* to, int64_t v) { to->port = static_cast<int>(v); }},
    {"db", 0, 1'000'000, [](RedisOptions* to, int64_t v) { to->db = static_cast<int>(v); }},
    {"connect_timeout", 0, kMostMs, [](RedisOptions* to, int64_t v) { to->connect_timeout_ms = v; }},
    {"socket_timeout", 0, kMostMs, [](RedisOptions* to, int64_t v) { to->socket_timeout_ms = v; }},
    {"pool_size", 1, 256, [](RedisOptions* to, int64_t v) { to->pool_size = static_cast<int>(v); }},
    {"wait_timeout", 1, kMostMs, [](RedisOptions* to, int64_t v) { to->wait_timeout_ms = v; }},
};

Status set_redis(std::string_view name, std::string_view value, CacheOptions* options) {
  RedisOptions& redis = options->redis;
  if (name == "host") return redis.host = value, Status::ok();
  if (name == "user" || name == "username") return redis.user = value, Status::ok();
  if (name == "password") return redis.password = value, Status::ok();
  for (const RedisNumber& row : kRedisNumbers) {
    if (row.name != name) continue;
    NEREID_TRY(const int64_t number, number_of(name, value, row.least, row.most));
    row.set(&redis, number);
    return Status::ok();
  }
  if (name == "tls_enabled") {
    if (value == "false" || value == "0") return Status::ok();
    return unsupported("--cache-config: Redis is spoken to in the clear here; put a tunnel that speaks TLS before it");
  }
  return invalid_argument(
      "--cache-config: the cache 'redis' has no setting '{}'; it has host, port, user, password, db, connect_timeout, "
      "socket_timeout, pool_size and wait_timeout (milliseconds)",
      name);
}

Result<std::shared_ptr<ResponseCache>> open_local(const CacheOptions& options) {
  return make_local_cache(options.local_bytes);
}

Result<std::shared_ptr<ResponseCache>> open_redis(const CacheOptions& options) {
  return make_redis_cache(options.redis);
}

struct Place {
  std::string_view name;
  Status (*set)(std::string_view name, std::string_view value, CacheOptions* options);
  Result<std::shared_ptr<ResponseCache>> (*open)(const CacheOptions& options);
};

constexpr Place kPlaces[] = {
    {"local", set_local, open_local},
    {"redis", set_redis, open_redis},
};

const Place* find_place(std::string_view name) {
  for (const Place& place : kPlaces)
    if (place.name == name) return &place;
  return nullptr;
}

Status check_whole(CacheOptions* options) {
  if (options->place == "local" && options->local_bytes == 0)
    return invalid_argument("--cache-config local needs its size in bytes: local,size=1048576");
  if (options->place != "redis") return Status::ok();
  if (options->redis.host.empty()) return invalid_argument("--cache-config redis needs its host: redis,host=localhost");
  // What is secret need not stand on the command line.
  const auto from_environment = [](const char* name, std::string* to) {
    if (const char* value = std::getenv(name); to->empty() && value != nullptr) *to = value;
  };
  from_environment("TRITONCACHE_REDIS_USERNAME", &options->redis.user);
  from_environment("TRITONCACHE_REDIS_PASSWORD", &options->redis.password);
  return Status::ok();
}

}  // namespace

Result<CacheOptions> parse_cache_options(const std::vector<std::string>& texts) {
  CacheOptions options;
  for (const std::string& text : texts) {
    const std::string_view all = text;
    const size_t comma = all.find(',');
    const std::string_view name = all.substr(0, comma);
    const Place* place = find_place(name);
    if (place == nullptr)
      return invalid_argument("--cache-config: there is no cache '{}'; there are local and redis", name);
    if (!options.place.empty() && options.place != name)
      return invalid_argument("--cache-config: a server has one cache, but '{}' and '{}' are named", options.place,
                              name);
    options.place = name;
    for (size_t at = comma; at != all.npos;) {
      const size_t end = all.find(',', at + 1);
      const std::string_view setting = all.substr(at + 1, end == all.npos ? end : end - at - 1);
      const size_t equals = setting.find('=');
      if (equals == setting.npos)
        return invalid_argument("--cache-config: '{}' is no setting; write NAME=VALUE, as in local,size=1048576",
                                setting);
      NEREID_RETURN_IF_ERROR(place->set(setting.substr(0, equals), setting.substr(equals + 1), &options));
      at = end;
    }
  }
  NEREID_RETURN_IF_ERROR(check_whole(&options));
  return options;
}

Result<std::shared_ptr<ResponseCache>> open_cache(const CacheOptions& options) {
  if (options.place.empty()) return std::shared_ptr<ResponseCache>();
  return find_place(options.place)->open(options);
}

}  // namespace nereid::server
