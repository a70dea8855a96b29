// SPDX-License-Identifier: Apache-2.0
#include "server/backend/tokens/word_ids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::server {
namespace {

// The example of to_word_list_format in TensorRT-LLM's documentation: two words of 3 and 2 tokens.
TEST(WordIds, tokens_stand_above_the_ends_of_words) {
  EXPECT_THAT(word_ids({{10, 11, 12}, {20, 21}}, 5), ::testing::ElementsAre(10, 11, 12, 20, 21, 3, 5, -1, -1, -1));
  EXPECT_EQ(word_columns({{10, 11, 12}, {20, 21}}), 5U);
}

TEST(WordIds, no_words_end_nowhere) {
  EXPECT_THAT(word_ids({}, 1), ::testing::ElementsAre(0, -1));
}

}  // namespace
}  // namespace nereid::server
