// SPDX-License-Identifier: Apache-2.0
#include "server/core/byte_pool.h"

#include <gtest/gtest.h>

namespace nereid::server {
namespace {

TEST(BytePool, a_long_string_is_used_again_after_its_last_holder) {
  const auto pool = std::make_shared<BytePool>();
  std::string text = pool->take(1 << 20);
  EXPECT_GE(text.capacity(), size_t{1} << 20);
  text.resize(1 << 20);
  const char* const where = text.data();
  auto shared = pool->share(std::move(text));
  auto other = shared;
  shared.reset();
  EXPECT_EQ(pool->kept_bytes(), 0u);
  EXPECT_EQ(other->data(), where);
  other.reset();
  EXPECT_GE(pool->kept_bytes(), size_t{1} << 20);
  EXPECT_EQ(pool->take((1 << 20) - 5).data(), where);
  EXPECT_EQ(pool->kept_bytes(), 0u);
}

TEST(BytePool, keeps_neither_short_strings_nor_endless_ones_nor_too_many) {
  const auto pool = std::make_shared<BytePool>();
  pool->give(std::string(100, 'x'));
  pool->give(std::string(BytePool::kMost * 2, 'x'));
  EXPECT_EQ(pool->kept_bytes(), 0u);
  for (int i = 0; i < 100; ++i) pool->give(std::string(1 << 20, 'x'));
  EXPECT_LE(pool->kept_bytes(), BytePool::kMostInAll);
  EXPECT_LE(pool->take(size_t{1} << 40).capacity(), 2 * BytePool::kMost) << "a length that nobody has seen yet";
}

TEST(BytePool, may_end_before_what_it_shared) {
  auto pool = std::make_shared<BytePool>();
  const auto shared = pool->share(std::string(1 << 20, 'x'));
  pool.reset();
  EXPECT_EQ((*shared)[5], 'x');
}

}  // namespace
}  // namespace nereid::server
