// SPDX-License-Identifier: Apache-2.0
// What holds for every memory plan.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "runtime/memory_plan.h"

namespace nereid::runtime {
namespace {

std::vector<PlanBuffer> any_buffers() {
  std::vector<PlanBuffer> buffers;
  const int count = *rc::gen::inRange(0, 40);
  for (int i = 0; i < count; ++i) {
    PlanBuffer b;
    b.size_bytes = *rc::gen::inRange(0, 2000);
    b.first_step = *rc::gen::inRange(0, 30);
    b.last_step = b.first_step + *rc::gen::inRange(0, 10);
    b.alignment = int64_t{1} << *rc::gen::inRange(0, 8);
    const int kind = *rc::gen::inRange(0, 4);
    if (i > 0 && kind == 0) {
      const int whole = *rc::gen::inRange(0, i);
      const PlanBuffer& w = buffers[static_cast<size_t>(whole)];
      b.view_of = whole;
      b.size_bytes = std::min(b.size_bytes, w.size_bytes);
      b.view_offset = *rc::gen::inRange<int64_t>(0, w.size_bytes - b.size_bytes + 1);
      b.first_step = std::max(b.first_step, w.first_step);
      b.last_step = std::max(b.last_step, b.first_step);
    } else if (i > 0 && kind == 1) {
      b.in_place_of = *rc::gen::inRange(0, i);
    }
    buffers.push_back(b);
  }
  return buffers;
}

// The buffer that a view, or a view of a view, lies in.
size_t whole_of(const std::vector<PlanBuffer>& buffers, size_t i) {
  while (buffers[i].view_of >= 0) i = static_cast<size_t>(buffers[i].view_of);
  return i;
}

TEST(MemoryPlan, no_two_live_buffers_overlap_whatever_they_are) {
  EXPECT_TRUE(rc::check([] {
    const std::vector<PlanBuffer> buffers = any_buffers();
    auto plan = plan_memory(buffers);
    RC_ASSERT(plan.is_ok());
    for (size_t i = 0; i < buffers.size(); ++i) {
      const PlanBuffer& a = buffers[i];
      const int64_t from = plan->offsets[i];
      RC_ASSERT(from >= 0);
      RC_ASSERT(from + a.size_bytes <= plan->arena_bytes || a.size_bytes == 0);
      if (a.view_of < 0) RC_ASSERT(a.size_bytes == 0 || from % a.alignment == 0);
      if (a.view_of >= 0) RC_ASSERT(from == plan->offsets[static_cast<size_t>(a.view_of)] + a.view_offset);
      for (size_t j = 0; j < i; ++j) {
        const PlanBuffer& b = buffers[j];
        const size_t whole = whole_of(buffers, i);
        const size_t other = whole_of(buffers, j);
        if (whole == other) continue;
        const bool together = a.first_step <= b.last_step && b.first_step <= a.last_step;
        const bool overlap = from < plan->offsets[j] + b.size_bytes && plan->offsets[j] < from + a.size_bytes;
        // The one step in which a buffer dies and its successor is written in place of it.
        const bool handed_over =
            (buffers[whole].in_place_of == static_cast<int32_t>(other) && a.first_step == b.last_step) ||
            (buffers[other].in_place_of == static_cast<int32_t>(whole) && b.first_step == a.last_step);
        RC_ASSERT(!together || !overlap || handed_over);
      }
    }
  }));
}

TEST(MemoryPlan, a_plan_never_takes_more_than_no_plan_and_never_less_than_what_lives_at_once) {
  EXPECT_TRUE(rc::check([] {
    std::vector<PlanBuffer> buffers = any_buffers();
    for (PlanBuffer& b : buffers) b.alignment = 64;
    auto plan = plan_memory(buffers);
    RC_ASSERT(plan.is_ok());
    RC_ASSERT(plan->arena_bytes <= plan->sum_bytes);
    RC_ASSERT(plan->arena_bytes >= plan->bound_bytes);
  }));
}

}  // namespace
}  // namespace nereid::runtime
