// SPDX-License-Identifier: Apache-2.0
// The device's pages: which are free, how many sequences hold each, and which stand in the tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"

namespace nereid::kv {

class PagePool {
 public:
  explicit PagePool(int32_t pages) : refs_(static_cast<size_t>(pages)), nodes_(static_cast<size_t>(pages), -1) {
    for (int32_t i = pages; i-- > 0;) free_.push_back(i);
  }

  int32_t pages() const { return static_cast<int32_t>(refs_.size()); }
  int32_t free() const { return static_cast<int32_t>(free_.size()); }
  int32_t used() const { return used_; }                        // held by sequences
  int32_t cached() const { return pages() - free() - used_; }   // held by the tree alone
  int32_t refs(int32_t page) const { return refs_[at(page)]; }  // sequences that hold it
  int32_t node(int32_t page) const { return nodes_[at(page)]; }
  const std::vector<int32_t>& free_list() const { return free_; }

  // With one holder; only when one is free.
  int32_t take() {
    NEREID_CHECK(!free_.empty());
    const int32_t page = free_.back();
    free_.pop_back();
    refs_[at(page)] = 1;
    ++used_;
    return page;
  }
  void hold(int32_t page) {
    if (refs_[at(page)]++ == 0) ++used_;
  }
  // Whether that was the last holder. A page that is in no tree is free then.
  bool release(int32_t page) {
    NEREID_CHECK(refs_[at(page)] > 0);
    if (--refs_[at(page)] > 0) return false;
    --used_;
    if (nodes_[at(page)] < 0) free_.push_back(page);
    return true;
  }
  void enter_tree(int32_t page, int32_t node) { nodes_[at(page)] = node; }
  void leave_tree(int32_t page) {
    nodes_[at(page)] = -1;
    if (refs_[at(page)] == 0) free_.push_back(page);
  }

 private:
  static size_t at(int32_t i) { return static_cast<size_t>(i); }
  std::vector<int32_t> free_, refs_, nodes_;
  int32_t used_ = 0;
};

}  // namespace nereid::kv
