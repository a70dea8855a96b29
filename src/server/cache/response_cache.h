// SPDX-License-Identifier: Apache-2.0
// Where answers are kept. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "server/cache/cached_response.h"
#include "server/core/cache_figures.h"

namespace nereid::server {

class ResponseCache {
 public:
  virtual ~ResponseCache() = default;
  // nullptr: there is none.
  using Found = std::function<void(std::shared_ptr<const CachedResponse> response)>;
  // Calls back once: before it returns where looking takes no time, else on a thread of the cache.
  virtual void find(const std::string& key, Found found) = 0;
  // What it cannot keep it forgets.
  virtual void insert(const std::string& key, std::shared_ptr<const CachedResponse> response) = 0;
  // Of a cache that counts for itself; nothing where others use it as well.
  virtual std::optional<CacheFigures> figures() const { return std::nullopt; }
};

}  // namespace nereid::server
