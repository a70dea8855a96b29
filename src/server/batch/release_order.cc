// SPDX-License-Identifier: Apache-2.0
#include "server/batch/release_order.h"

namespace nereid::server {

std::vector<uint64_t> ReleaseOrder::end(uint64_t ticket) {
  std::vector<uint64_t> released;
  if (!is_turn(ticket)) {
    ended_.insert(ticket);
    return released;
  }
  waiting_.pop_front();
  while (!waiting_.empty()) {
    released.push_back(waiting_.front());
    if (ended_.erase(waiting_.front()) == 0) break;
    waiting_.pop_front();
  }
  return released;
}

}  // namespace nereid::server
