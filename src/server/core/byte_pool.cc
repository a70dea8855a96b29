// SPDX-License-Identifier: Apache-2.0
#include "server/core/byte_pool.h"

#include <algorithm>
#include <utility>

namespace nereid::server {

std::string BytePool::take(size_t bytes) {
  bytes = std::min(bytes, kMost);
  if (bytes >= kLeast) {
    const std::lock_guard lock(mutex_);
    for (size_t i = kept_.size(); i-- > 0;) {
      if (kept_[i].capacity() < bytes) continue;
      std::string out = std::move(kept_[i]);
      kept_.erase(kept_.begin() + static_cast<ptrdiff_t>(i));
      kept_bytes_ -= out.capacity();
      return out;
    }
  }
  std::string out;
  // Strings that differ a little in length serve each other.
  out.reserve(bytes < kLeast ? bytes : (bytes + kLeast - 1) / kLeast * kLeast);
  return out;
}

void BytePool::give(std::string&& bytes) {
  std::string going = std::move(bytes);  // freed without the lock where it is not kept
  if (going.capacity() < kLeast || going.capacity() > kMost + kLeast) return;
  const std::lock_guard lock(mutex_);
  if (kept_bytes_ + going.capacity() > kMostInAll) return;
  kept_bytes_ += going.capacity();
  kept_.push_back(std::move(going));
}

std::shared_ptr<const std::string> BytePool::share(std::string&& bytes) {
  if (bytes.capacity() < kLeast) return std::make_shared<const std::string>(std::move(bytes));
  return {new std::string(std::move(bytes)), [pool = shared_from_this()](const std::string* one) {
            pool->give(std::move(*const_cast<std::string*>(one)));
            delete one;
          }};
}

void BytePool::clear() {
  std::vector<std::string> going;  // freed without the lock
  const std::lock_guard lock(mutex_);
  going.swap(kept_);
  kept_bytes_ = 0;
}

size_t BytePool::kept_bytes() const {
  const std::lock_guard lock(mutex_);
  return kept_bytes_;
}

}  // namespace nereid::server
