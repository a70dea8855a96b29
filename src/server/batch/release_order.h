// SPDX-License-Identifier: Apache-2.0
// In which order answers leave when several instances work on one queue and the order of requests is to be kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_set>
#include <vector>

namespace nereid::server {

class ReleaseOrder {
 public:
  // Its answer leaves after those of all that were added before.
  void add(uint64_t ticket) { waiting_.push_back(ticket); }
  // True: its responses go out as they come. False: they are to be held until end() names it.
  bool is_turn(uint64_t ticket) const { return !waiting_.empty() && waiting_.front() == ticket; }
  // Its last response is there. Names those whose turn has come, in order, itself not among them unless it was held;
  // what is held of each goes out, and for the last of them what comes later as well.
  std::vector<uint64_t> end(uint64_t ticket);
  size_t size() const { return waiting_.size(); }

 private:
  std::deque<uint64_t> waiting_;
  std::unordered_set<uint64_t> ended_;  // of those that wait, other than the first
};

}  // namespace nereid::server
