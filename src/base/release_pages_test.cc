// SPDX-License-Identifier: Apache-2.0
#include "base/release_pages.h"

#include <gtest/gtest.h>

#include <vector>

namespace nereid {
namespace {

TEST(ReleasePages, whole_pages_inside_become_zeros_and_what_is_around_them_stays) {
  std::vector<std::byte> memory(size_t{1} << 20, std::byte{7});
  const std::span<const std::byte> range(memory.data() + 100, memory.size() - 200);
  release_pages(range);
  EXPECT_EQ(memory[memory.size() / 2], std::byte{0});
  EXPECT_EQ(memory[99], std::byte{7});
  EXPECT_EQ(memory[memory.size() - 100], std::byte{7});
  memory[memory.size() / 2] = std::byte{3};
  EXPECT_EQ(memory[memory.size() / 2], std::byte{3});
}

TEST(ReleasePages, a_range_without_a_whole_page_stays) {
  std::vector<std::byte> memory(64, std::byte{7});
  release_pages(memory);
  release_pages({});
  EXPECT_EQ(memory, std::vector<std::byte>(64, std::byte{7}));
}

}  // namespace
}  // namespace nereid
