// SPDX-License-Identifier: Apache-2.0
// How much each user has had, so that the one who had least comes next (virtual token counters: Sheng et al., "Fairness
// in Serving Large Language Models", 2024).
//
// A user who comes back after a rest is lifted to what the least served of those at hand has had: a rest saves nothing
// up, and a short absence forgives nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::schedule {

class FairShare {
 public:
  // The user's number, with one request more; valid until as many leave() as join() have been called.
  int32_t join(std::string_view user);
  void leave(int32_t user);
  void charge(int32_t user, int64_t tokens) { users_[static_cast<size_t>(user)].served += tokens; }
  int64_t served(int32_t user) const { return users_[static_cast<size_t>(user)].served; }
  size_t known() const { return names_.size(); }

 private:
  struct User {
    int64_t served = 0;
    int32_t requests = 0;
    std::string_view name;  // in names_
  };
  void raise_floor();
  void forget_rested();

  std::map<std::string, int32_t, std::less<>> names_;
  std::vector<User> users_;
  std::vector<int32_t> free_;
  int64_t floor_ = 0;  // what the least served user at hand has had; only grows
  size_t forget_at_ = 256;
};

}  // namespace nereid::schedule
