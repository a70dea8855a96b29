// SPDX-License-Identifier: Apache-2.0
#include "llm/schedule/fair_share.h"

#include <algorithm>
#include <limits>

namespace nereid::schedule {

void FairShare::raise_floor() {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const User& u : users_)
    if (u.requests > 0) least = std::min(least, u.served);
  if (least != std::numeric_limits<int64_t>::max()) floor_ = std::max(floor_, least);
}

// Those who would be lifted to the floor anyway need not be remembered.
void FairShare::forget_rested() {
  for (auto it = names_.begin(); it != names_.end();) {
    User& u = users_[static_cast<size_t>(it->second)];
    if (u.requests > 0 || u.served > floor_) {
      ++it;
      continue;
    }
    u = {};
    free_.push_back(it->second);
    it = names_.erase(it);
  }
  forget_at_ = std::max<size_t>(256, 2 * names_.size());
}

int32_t FairShare::join(std::string_view user) {
  auto it = names_.find(user);
  if (it == names_.end() || users_[static_cast<size_t>(it->second)].requests == 0) raise_floor();
  if (it == names_.end()) {
    if (names_.size() >= forget_at_) forget_rested();
    int32_t number = static_cast<int32_t>(users_.size());
    if (free_.empty()) {
      users_.emplace_back();
    } else {
      number = free_.back();
      free_.pop_back();
    }
    it = names_.emplace(std::string(user), number).first;
    users_[static_cast<size_t>(number)].name = it->first;
  }
  User& u = users_[static_cast<size_t>(it->second)];
  if (u.requests++ == 0) u.served = std::max(u.served, floor_);
  return it->second;
}

void FairShare::leave(int32_t user) {
  User& u = users_[static_cast<size_t>(user)];
  // The last one of all sets where the next begins.
  if (--u.requests > 0) return;
  const bool any = std::ranges::any_of(users_, [](const User& other) { return other.requests > 0; });
  if (!any) floor_ = std::max(floor_, u.served);
}

}  // namespace nereid::schedule
