// SPDX-License-Identifier: Apache-2.0
#include "llm/kv/evict_queue.h"

namespace nereid::kv {

void EvictQueue::set(size_t place, int32_t id) {
  heap_[place] = id;
  places_[at(id)] = static_cast<int32_t>(place);
}

// Moves what lies at `place` up or down to where it belongs.
void EvictQueue::settle(size_t place) {
  const int32_t id = heap_[place];
  while (place > 0 && before(id, heap_[(place - 1) / 2])) {
    set(place, heap_[(place - 1) / 2]);
    place = (place - 1) / 2;
  }
  for (size_t child = 2 * place + 1; child < heap_.size(); child = 2 * place + 1) {
    if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;
    if (!before(heap_[child], id)) break;
    set(place, heap_[child]);
    place = child;
  }
  set(place, id);
}

void EvictQueue::put(int32_t id, const Key& key) {
  if (at(id) >= places_.size()) {
    places_.resize(at(id) + 1, -1);
    keys_.resize(at(id) + 1);
  }
  keys_[at(id)] = key;
  if (places_[at(id)] < 0) {
    places_[at(id)] = static_cast<int32_t>(heap_.size());
    heap_.push_back(id);
  }
  settle(at(places_[at(id)]));
}

void EvictQueue::erase(int32_t id) {
  if (!contains(id)) return;
  const size_t place = at(places_[at(id)]);
  places_[at(id)] = -1;
  const int32_t last = heap_.back();
  heap_.pop_back();
  if (last == id) return;
  set(place, last);
  settle(place);
}

}  // namespace nereid::kv
