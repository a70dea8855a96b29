// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::runtime {
namespace {

using testing::ElementsAre;

TEST(MemoryPlan, buffers_that_never_live_together_share_their_bytes) {
  auto plan = plan_memory(std::vector<PlanBuffer>{{.size_bytes = 128, .first_step = 0, .last_step = 1},
                                                  {.size_bytes = 64, .first_step = 1, .last_step = 2},
                                                  {.size_bytes = 128, .first_step = 2, .last_step = 3}});
  ASSERT_TRUE(plan.is_ok());
  EXPECT_THAT(plan->offsets, ElementsAre(0, 128, 0));
  EXPECT_EQ(plan->arena_bytes, 192);
  EXPECT_EQ(plan->sum_bytes, 320);
  EXPECT_EQ(plan->bound_bytes, 192);
}

TEST(MemoryPlan, the_tightest_gap_is_taken) {
  // 256 and 128 are placed first and leave gaps when they die; the 64 that comes later goes into the smaller one.
  auto plan = plan_memory(std::vector<PlanBuffer>{{.size_bytes = 512, .first_step = 0, .last_step = 9},
                                                  {.size_bytes = 256, .first_step = 0, .last_step = 4},
                                                  {.size_bytes = 128, .first_step = 0, .last_step = 9},
                                                  {.size_bytes = 64, .first_step = 5, .last_step = 9}});
  ASSERT_TRUE(plan.is_ok());
  EXPECT_THAT(plan->offsets, ElementsAre(0, 512, 768, 512));
}

TEST(MemoryPlan, offsets_are_aligned) {
  auto plan =
      plan_memory(std::vector<PlanBuffer>{{.size_bytes = 3, .first_step = 0, .last_step = 0, .alignment = 1},
                                          {.size_bytes = 2, .first_step = 0, .last_step = 0, .alignment = 4096}});
  ASSERT_TRUE(plan.is_ok());
  EXPECT_THAT(plan->offsets, ElementsAre(0, 4096));
}

TEST(MemoryPlan, views_lie_in_their_buffer_and_keep_it_alive) {
  auto plan = plan_memory(
      std::vector<PlanBuffer>{{.size_bytes = 192, .first_step = 0, .last_step = 1},
                              {.size_bytes = 64, .first_step = 1, .last_step = 5, .view_of = 0, .view_offset = 128},
                              {.size_bytes = 192, .first_step = 2, .last_step = 3}});
  ASSERT_TRUE(plan.is_ok());
  EXPECT_EQ(plan->offsets[1], plan->offsets[0] + 128);
  EXPECT_NE(plan->offsets[2], plan->offsets[0]);
}

TEST(MemoryPlan, a_result_may_be_written_over_what_dies_in_its_step) {
  auto plan =
      plan_memory(std::vector<PlanBuffer>{{.size_bytes = 64, .first_step = 0, .last_step = 2},
                                          {.size_bytes = 64, .first_step = 2, .last_step = 4, .in_place_of = 0}});
  ASSERT_TRUE(plan.is_ok());
  EXPECT_THAT(plan->offsets, ElementsAre(0, 0));
  EXPECT_EQ(plan->arena_bytes, 64);
}

TEST(MemoryPlan, nothing_is_written_over_what_is_read_later) {
  auto plan =
      plan_memory(std::vector<PlanBuffer>{{.size_bytes = 64, .first_step = 0, .last_step = 3},
                                          {.size_bytes = 64, .first_step = 2, .last_step = 4, .in_place_of = 0}});
  ASSERT_TRUE(plan.is_ok());
  EXPECT_THAT(plan->offsets, ElementsAre(0, 64));
  // Nor by two at once.
  plan = plan_memory(std::vector<PlanBuffer>{{.size_bytes = 64, .first_step = 0, .last_step = 2},
                                             {.size_bytes = 64, .first_step = 2, .last_step = 4, .in_place_of = 0},
                                             {.size_bytes = 64, .first_step = 2, .last_step = 4, .in_place_of = 0}});
  ASSERT_TRUE(plan.is_ok());
  EXPECT_NE(plan->offsets[1], plan->offsets[2]);
}

TEST(MemoryPlan, what_makes_no_sense_is_named) {
  auto message = [](std::vector<PlanBuffer> buffers) { return plan_memory(buffers).status().message(); };
  EXPECT_EQ(message({{.size_bytes = -1}}), "buffer 0 has a size of -1 bytes");
  EXPECT_EQ(message({{.first_step = 2, .last_step = 1}}), "buffer 0 lives from step 2 to step 1");
  EXPECT_EQ(message({{.alignment = 3}}), "buffer 0 has an alignment of 3, which is no power of two");
  EXPECT_EQ(message({{.view_of = 0}}), "buffer 0 refers to buffer 0, which does not stand before it");
  EXPECT_EQ(message({{.size_bytes = 8}, {.size_bytes = 8, .view_of = 0, .view_offset = 4}}),
            "buffer 1 (8 bytes at 4) leaves buffer 0 (8 bytes)");
}

}  // namespace
}  // namespace nereid::runtime
