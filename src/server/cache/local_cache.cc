// SPDX-License-Identifier: Apache-2.0
#include "server/cache/local_cache.h"

#include <mutex>
#include <unordered_map>

#include "base/clock.h"
#include "server/batch/lru_ledger.h"

namespace nereid::server {
namespace {

class LocalCache final : public ResponseCache {
 public:
  explicit LocalCache(size_t capacity_bytes) : ledger_(capacity_bytes) {}

  void find(const std::string& key, Found found) override {
    const int64_t begin_ns = now_ns();
    std::shared_ptr<const CachedResponse> response;
    {
      const std::lock_guard lock(mutex_);
      ++figures_.lookups;
      if (ledger_.touch(key)) response = kept_.at(key);
      ++(response != nullptr ? figures_.hits : figures_.misses);
      figures_.lookup_ns += static_cast<uint64_t>(now_ns() - begin_ns);
    }
    found(std::move(response));
  }

  void insert(const std::string& key, std::shared_ptr<const CachedResponse> response) override {
    const int64_t begin_ns = now_ns();
    std::vector<std::shared_ptr<const CachedResponse>> gone;  // freed without the lock
    const std::lock_guard lock(mutex_);
    const LruLedger::Insertion done = ledger_.insert(key, response->bytes());
    for (const std::string& name : done.evicted) {
      const auto it = kept_.find(name);
      gone.push_back(std::move(it->second));
      kept_.erase(it);
    }
    figures_.evictions += done.evicted.size();
    if (done.is_kept) kept_[key].swap(response);
    figures_.insertion_ns += static_cast<uint64_t>(now_ns() - begin_ns);
  }

  std::optional<CacheFigures> figures() const override {
    const std::lock_guard lock(mutex_);
    CacheFigures out = figures_;
    out.bytes = ledger_.bytes(), out.capacity = ledger_.capacity(), out.entries = ledger_.entries();
    return out;
  }

 private:
  mutable std::mutex mutex_;
  LruLedger ledger_;
  std::unordered_map<std::string, std::shared_ptr<const CachedResponse>> kept_;
  CacheFigures figures_;
};

}  // namespace

std::shared_ptr<ResponseCache> make_local_cache(size_t capacity_bytes) {
  return std::make_shared<LocalCache>(capacity_bytes);
}

}  // namespace nereid::server
