// SPDX-License-Identifier: Apache-2.0
// For tests: fewer of the events that do something.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace nereid::kv {

// Leaves out ever smaller parts of `events` as long as `does_it` still holds of the rest.
template <typename Event, typename Predicate>
std::vector<Event> shrink(std::vector<Event> events, const Predicate& does_it) {
  for (size_t part = events.size() / 2; part > 0; part /= 2) {
    for (size_t from = 0; from + part <= events.size();) {
      std::vector<Event> fewer = events;
      fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(from), fewer.begin() + static_cast<ptrdiff_t>(from + part));
      if (does_it(fewer))
        events = std::move(fewer);
      else
        from += part;
    }
  }
  return events;
}

}  // namespace nereid::kv
