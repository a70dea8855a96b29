// SPDX-License-Identifier: Apache-2.0
#include "llm/run/host_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_dir.h"

namespace nereid::llm {
namespace {

using ::testing::HasSubstr;

std::vector<std::byte> page_of(int content) {
  std::vector<std::byte> page(5000);
  for (size_t i = 0; i < page.size(); ++i) page[i] = static_cast<std::byte>(i * static_cast<size_t>(content + 3) >> 3);
  return page;
}

TEST(HostPages, pages_come_back_as_they_went_from_whatever_place) {
  const TestDir dir;
  const auto pages = HostPages::make(dir.path(), 4, 5000).value();
  for (int32_t place : {2, 0, 3}) ASSERT_TRUE(pages->write(place, page_of(place)).is_ok());
  ASSERT_TRUE(pages->write(0, page_of(9)).is_ok());
  std::vector<std::byte> back(5000);
  for (auto [place, content] : {std::pair{3, 3}, {0, 9}, {2, 2}}) {
    ASSERT_TRUE(pages->read(place, back).is_ok());
    EXPECT_EQ(back, page_of(content)) << place;
  }
}

TEST(HostPages, their_file_has_no_name) {
  const TestDir dir;
  const auto pages = HostPages::make(dir.path(), 4, 5000).value();
  EXPECT_EQ(dir.files(), 0);
}

TEST(HostPages, a_page_that_was_changed_is_not_taken_back) {
  const TestDir dir;
  const auto pages = HostPages::make(dir.path(), 2, 5000).value();
  ASSERT_TRUE(pages->write(1, page_of(1)).is_ok());
  ASSERT_EQ(::pwrite(pages->descriptor(), "x", 1, 5000 + 77), 1);
  std::vector<std::byte> back(5000);
  EXPECT_THAT(pages->read(1, back).message(), HasSubstr("came back other than it was"));
}

TEST(HostPages, a_file_that_lost_its_end_is_an_error) {
  const TestDir dir;
  const auto pages = HostPages::make(dir.path(), 2, 5000).value();
  ASSERT_TRUE(pages->write(1, page_of(1)).is_ok());
  ASSERT_EQ(::ftruncate(pages->descriptor(), 7000), 0);
  std::vector<std::byte> back(5000);
  EXPECT_THAT(pages->read(1, back).message(), HasSubstr("cannot be read back"));
}

TEST(HostPages, what_cannot_be_had_is_refused_with_a_sentence) {
  const TestDir dir;
  EXPECT_EQ(HostPages::make(dir / "missing", 2, 5000).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(HostPages::make(dir.path(), INT32_MAX, int64_t{1} << 40).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(HostPages::make(dir.path(), INT32_MAX, int64_t{1} << 28).status().code(), StatusCode::kExhausted);
  EXPECT_EQ(HostPages::make(dir.path(), 0, 10).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace nereid::llm
