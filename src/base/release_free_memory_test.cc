// SPDX-License-Identifier: Apache-2.0
#include "base/release_free_memory.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <vector>

namespace nereid {
namespace {

// Resident pages of this process.
long resident_pages() {
  long size = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &size, &resident) != 2) resident = 0;
  if (file != nullptr) std::fclose(file);
  return resident;
}

TEST(ReleaseFreeMemory, what_was_freed_between_what_lives_goes_back) {
  // Blocks below the size that gets a mapping of its own, every second of which lives on.
  std::vector<std::unique_ptr<std::vector<char>>> blocks;
  for (int i = 0; i < 4096; ++i) blocks.push_back(std::make_unique<std::vector<char>>(64 << 10, 'x'));
  const long all = resident_pages();
  for (size_t i = 0; i < blocks.size(); i += 2) blocks[i].reset();
  release_free_memory();
  EXPECT_LT(resident_pages(), all - 96 * 256) << "128 MiB of pages of 4 KiB were freed";
}

}  // namespace
}  // namespace nereid
