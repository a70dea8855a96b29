// SPDX-License-Identifier: Apache-2.0
// The metrics of HTTP requests, found once for each endpoint, method and status, and then kept.
#pragma once

#include <map>
#include <mutex>
#include <string_view>
#include <tuple>

#include "server/metrics/registry.h"
#include "server/net/server.h"

namespace nereid::server {

// Thread-safe. Records' endpoints must be patterns of one router, which lives as long.
class RequestMeters {
 public:
  explicit RequestMeters(metrics::Registry& registry) : registry_(registry) {}
  void observe(const net::RequestRecord& record);

 private:
  struct Meters {
    metrics::Counter* requests = nullptr;
    metrics::Counter* bytes = nullptr;
    metrics::Histogram* seconds = nullptr;
  };
  using Key = std::tuple<const char*, std::string_view, int>;  // where the pattern lies, method, status

  metrics::Registry& registry_;
  std::mutex mutex_;
  std::map<Key, Meters> meters_;
};

}  // namespace nereid::server
