// SPDX-License-Identifier: Apache-2.0
#include "base/program_pages.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/checksum.h"

namespace nereid {
namespace {

int64_t file_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (int64_t kib = 0; word == "RssFile:" && status >> kib) return kib;
  return -1;
}

TEST(ProgramPages, leave_memory_and_come_back_when_they_are_needed) {
  const uint64_t before = xxhash64("some text");
  const int64_t resident = file_kib();
  EXPECT_GT(release_program_pages(), 1 << 20);
  const int64_t then = file_kib();
  EXPECT_LT(then, resident * 3 / 4) << "of " << resident << " KiB";
  EXPECT_EQ(xxhash64("some text"), before);
}

}  // namespace
}  // namespace nereid
