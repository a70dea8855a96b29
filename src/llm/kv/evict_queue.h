// SPDX-License-Identifier: Apache-2.0
// Who goes first when room is needed: a heap of small ids whose keys may change and which may leave at any time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nereid::kv {

class EvictQueue {
 public:
  // The least goes first: lowest priority, then oldest tick, then deepest.
  struct Key {
    int32_t priority = 0;
    int32_t depth = 0;
    int64_t tick = 0;
    bool operator<(const Key& o) const {
      if (priority != o.priority) return priority < o.priority;
      return tick != o.tick ? tick < o.tick : depth > o.depth;
    }
  };

  bool empty() const { return heap_.empty(); }
  size_t size() const { return heap_.size(); }
  bool contains(int32_t id) const { return static_cast<size_t>(id) < places_.size() && places_[at(id)] >= 0; }
  int32_t top() const { return heap_.front(); }  // only when not empty
  const Key& key(int32_t id) const { return keys_[at(id)]; }

  void put(int32_t id, const Key& key);  // also one that is in already
  void erase(int32_t id);                // nothing for one that is not

 private:
  static size_t at(int32_t i) { return static_cast<size_t>(i); }
  bool before(int32_t a, int32_t b) const { return keys_[at(a)] < keys_[at(b)]; }
  void set(size_t place, int32_t id);
  void settle(size_t place);

  std::vector<int32_t> heap_;
  std::vector<int32_t> places_;  // by id; -1: not in
  std::vector<Key> keys_;        // by id
};

}  // namespace nereid::kv
