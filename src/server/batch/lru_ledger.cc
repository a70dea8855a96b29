// SPDX-License-Identifier: Apache-2.0
#include "server/batch/lru_ledger.h"

#include <utility>

namespace nereid::server {

void LruLedger::erase(Entries::iterator entry) {
  index_.erase(entry->name);
  bytes_ -= entry->bytes;
  entries_.erase(entry);
}

LruLedger::Insertion LruLedger::insert(const std::string& name, size_t bytes) {
  Insertion out;
  if (const auto it = index_.find(name); it != index_.end()) {
    erase(it->second);
    if (bytes > capacity_) out.evicted.push_back(name);
  }
  if (bytes > capacity_) return out;
  while (capacity_ - bytes_ < bytes) {
    const auto oldest = std::prev(entries_.end());
    out.evicted.push_back(oldest->name);
    erase(oldest);
  }
  entries_.push_front({name, bytes});
  index_.emplace(entries_.front().name, entries_.begin());
  bytes_ += bytes;
  out.is_kept = true;
  return out;
}

bool LruLedger::touch(std::string_view name) {
  const auto it = index_.find(name);
  if (it == index_.end()) return false;
  entries_.splice(entries_.begin(), entries_, it->second);
  return true;
}

}  // namespace nereid::server
