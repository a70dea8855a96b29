// SPDX-License-Identifier: Apache-2.0
#include "llm/schedule/scheduler.h"

#include <gtest/gtest.h>

#include "llm/schedule/test_simulation.h"

namespace nereid::schedule {
namespace {

constexpr kv::CacheOptions kCache = {.pages = 64, .page_tokens = 16, .sequences = 8};

// Prompts of different numbers have nothing in common.
NewRequest request(uint64_t id, int32_t prompt, int32_t answer, int32_t content = -1) {
  NewRequest r;
  r.id = {id};
  r.max_tokens = answer;
  for (int32_t i = 0; i < prompt; ++i)
    r.prompt.push_back((content >= 0 ? content : static_cast<int32_t>(id)) * 10000 + i);
  return r;
}

TEST(Scheduler, one_request_runs_its_prompt_and_then_token_by_token) {
  Simulation sim({.step_tokens = 32}, kCache);
  sim.keep_steps = true;
  ASSERT_TRUE(sim.add(request(1, 40, 3)).is_ok());
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
  ASSERT_EQ(sim.steps.size(), 4U);
  EXPECT_EQ(sim.steps[0].tokens, 32);
  EXPECT_EQ(sim.steps[0].outputs, 0);
  EXPECT_EQ(sim.steps[1].tokens, 8);
  EXPECT_EQ(sim.steps[1].outputs, 1);
  EXPECT_EQ(sim.steps[3].tokens, 1);
  EXPECT_EQ(sim.pages_in_use(), 0);
}

TEST(Scheduler, a_long_prompt_does_not_starve_decoders) {
  Simulation sim({.step_tokens = 512, .prompt_tokens_beside = 64}, {.pages = 600, .page_tokens = 16, .sequences = 8});
  for (uint64_t id = 1; id <= 4; ++id) ASSERT_TRUE(sim.add(request(id, 20, 100)).is_ok());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(sim.step());
  ASSERT_TRUE(sim.add(request(9, 4000, 10)).is_ok());
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
  for (uint64_t id = 1; id <= 4; ++id) {
    const std::vector<int64_t>& times = sim.lives[id].answers[0].times_us;
    for (size_t i = 1; i < times.size(); ++i)
      EXPECT_LE(times[i] - times[i - 1], sim.step_us + sim.token_us * (64 + 4)) << "request " << id << " token " << i;
  }
}

TEST(Scheduler, a_long_prompt_does_not_stretch_the_time_between_tokens_past_three_times_on_a_slow_machine) {
  Simulation sim({.step_tokens = 512}, {.pages = 600, .page_tokens = 16, .sequences = 8});
  sim.step_us = 6000;
  sim.token_us = 50;
  sim.prompt_token_us = 400;
  ASSERT_TRUE(sim.add(request(1, 200, 300)).is_ok());
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(sim.step());
  ASSERT_TRUE(sim.add(request(9, 4000, 10)).is_ok());
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
  const std::vector<int64_t>& times = sim.lives[1].answers[0].times_us;
  for (size_t i = 1; i < times.size(); ++i) EXPECT_LE(times[i] - times[i - 1], 3 * 6050) << "token " << i;
  // And yet the prompt is not starved: three fifths of the time are its own.
  EXPECT_LT(sim.lives[9].first_token_us(), 4000 * 450 * 2);
}

TEST(Scheduler, a_full_page_pool_preempts_the_youngest_request) {
  Simulation sim({.step_tokens = 64}, {.pages = 8, .page_tokens = 16, .sequences = 4});
  sim.keep_steps = true;
  for (uint64_t id = 1; id <= 3; ++id) ASSERT_TRUE(sim.add(request(id, 16, 48)).is_ok());
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
  std::vector<uint64_t> paused;
  for (const Step& s : sim.steps)
    for (RequestId id : s.paused) paused.push_back(id.v);
  ASSERT_FALSE(paused.empty());
  EXPECT_EQ(paused.front(), 3U);
  EXPECT_EQ(std::ranges::count(paused, 1U), 0);
  EXPECT_GT(sim.lives[3].end_us, sim.lives[1].end_us);
}

TEST(Scheduler, the_lower_priority_pauses_even_when_it_came_first) {
  Simulation sim({.step_tokens = 64}, {.pages = 8, .page_tokens = 16, .sequences = 4});
  sim.keep_steps = true;
  for (uint64_t id = 1; id <= 3; ++id) {
    NewRequest r = request(id, 16, 48);
    r.priority = id == 1 ? 0 : 1;
    ASSERT_TRUE(sim.add(std::move(r)).is_ok());
  }
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
  const auto first = std::ranges::find_if(sim.steps, [](const Step& s) { return !s.paused.empty(); });
  ASSERT_NE(first, sim.steps.end());
  EXPECT_EQ(first->paused.front().v, 1U);
}

TEST(Scheduler, without_eviction_only_what_fits_to_its_end_is_admitted_and_nobody_pauses) {
  Simulation sim({.step_tokens = 64, .policy = Policy::kGuaranteedNoEvict},
                 {.pages = 8, .page_tokens = 16, .sequences = 4});
  for (uint64_t id = 1; id <= 6; ++id) {
    NewRequest r = request(id, 16, 48);
    r.choices = id % 3 == 0 ? 2 : 1;
    ASSERT_TRUE(sim.add(std::move(r)).is_ok());
  }
  ASSERT_TRUE(sim.step());
  EXPECT_EQ(sim.scheduler().counts().running, 2);
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
  EXPECT_EQ(sim.scheduler().counts().pauses, 0);
}

TEST(Scheduler, users_share_fairly) {
  // One has many requests waiting when another comes with few.
  Simulation sim({.step_tokens = 256}, {.pages = 400, .page_tokens = 16, .sequences = 2});
  for (uint64_t id = 1; id <= 30; ++id) {
    NewRequest r = request(id, 300, 20);
    r.user = "many";
    ASSERT_TRUE(sim.add(std::move(r)).is_ok());
  }
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(sim.step());
  for (uint64_t id = 101; id <= 103; ++id) {
    NewRequest r = request(id, 300, 20);
    r.user = "few";
    ASSERT_TRUE(sim.add(std::move(r)).is_ok());
  }
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
  // Those of the few end while most of the many still wait.
  int ended_before = 0;
  for (uint64_t id = 1; id <= 30; ++id) ended_before += sim.lives[id].end_us < sim.lives[103].end_us;
  EXPECT_LT(ended_before, 15);
}

TEST(Scheduler, a_level_of_waiting_outweighs_priority) {
  Simulation sim({.step_tokens = 64, .level_us = 50'000}, {.pages = 64, .page_tokens = 16, .sequences = 1});
  NewRequest low = request(1, 16, 10);
  ASSERT_TRUE(sim.add(std::move(low)).is_ok());
  ASSERT_TRUE(sim.add(request(2, 16, 10)).is_ok());
  // Greater priorities keep coming, faster than they are served.
  for (uint64_t id = 10; id < 200; ++id) {
    NewRequest r = request(id, 16, 10);
    r.priority = 3;
    ASSERT_TRUE(sim.add(std::move(r)).is_ok());
    for (int i = 0; i < 3; ++i) sim.step();
  }
  EXPECT_GT(sim.lives[2].end_us, 0);
  EXPECT_LT(sim.lives[2].end_us, 600'000);
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
}

TEST(Scheduler, among_equals_the_earlier_deadline_goes_first) {
  Simulation sim({.step_tokens = 64}, {.pages = 64, .page_tokens = 16, .sequences = 1});
  for (uint64_t id = 1; id <= 4; ++id) {
    NewRequest r = request(id, 16, 4);
    r.deadline_us = id == 4 ? 0 : 1'000'000 - static_cast<int64_t>(id) * 1000;
    ASSERT_TRUE(sim.add(std::move(r)).is_ok());
  }
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
  EXPECT_LT(sim.lives[3].end_us, sim.lives[2].end_us);
  EXPECT_LT(sim.lives[2].end_us, sim.lives[1].end_us);
  EXPECT_LT(sim.lives[1].end_us, sim.lives[4].end_us);
}

TEST(Scheduler, a_cancelled_request_frees_its_pages_within_one_step) {
  Simulation sim({.step_tokens = 32}, kCache);
  for (uint64_t id = 1; id <= 3; ++id) ASSERT_TRUE(sim.add(request(id, 60, 10)).is_ok());
  // While it waits, while its prompt is computed, and while it answers.
  for (int when = 0; when < 3; ++when) {
    const uint64_t id = 50 + static_cast<uint64_t>(when);
    ASSERT_TRUE(sim.add(request(id, 60, 30)).is_ok());
    for (int i = 0; i < when * 8; ++i) ASSERT_TRUE(sim.step());
    sim.scheduler().cancel({id});
    sim.step();
    EXPECT_TRUE(sim.lives[id].answers[0].has_ended);
    EXPECT_EQ(sim.lives[id].answers[0].reason, EndReason::kCancelled);
    EXPECT_FALSE(sim.scheduler().request({id}).is_ok());
  }
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
  EXPECT_EQ(sim.pages_in_use(), 0);
  EXPECT_EQ(sim.scheduler().counts().cancelled, 3);
}

TEST(Scheduler, cancelling_ends_every_choice) {
  Simulation sim({.step_tokens = 64}, kCache);
  for (int steps : {0, 3}) {
    NewRequest r = request(static_cast<uint64_t>(steps) + 1, 20, 30);
    r.choices = 3;
    ASSERT_TRUE(sim.add(std::move(r)).is_ok());
    for (int i = 0; i < steps; ++i) ASSERT_TRUE(sim.step());
    sim.scheduler().cancel({static_cast<uint64_t>(steps) + 1});
    EXPECT_FALSE(sim.step());
    EXPECT_EQ(sim.lives[static_cast<uint64_t>(steps) + 1].left, 0);
  }
  EXPECT_EQ(sim.pages_in_use(), 0);
}

TEST(Scheduler, a_request_that_is_too_late_ends_as_timeout_wherever_it_is) {
  Simulation sim({.step_tokens = 32}, {.pages = 64, .page_tokens = 16, .sequences = 1});
  for (uint64_t id = 1; id <= 2; ++id) {
    NewRequest r = request(id, 20, 1000);
    r.max_tokens = 500;
    r.expires_us = 20'000;
    ASSERT_TRUE(sim.add(std::move(r)).is_ok());
  }
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
  for (uint64_t id = 1; id <= 2; ++id) {
    EXPECT_EQ(sim.lives[id].answers[0].reason, EndReason::kTimeout);
    EXPECT_LE(sim.lives[id].end_us, 20'000 + 5'000);
  }
  EXPECT_GT(sim.lives[1].answers[0].tokens.size(), 0U);
  EXPECT_EQ(sim.scheduler().counts().timed_out, 2);
}

TEST(Scheduler, a_full_queue_refuses_with_a_sentence) {
  Simulation sim({.step_tokens = 32, .max_queue = 2}, {.pages = 64, .page_tokens = 16, .sequences = 1});
  ASSERT_TRUE(sim.add(request(1, 20, 10)).is_ok());
  ASSERT_TRUE(sim.step());
  ASSERT_TRUE(sim.add(request(2, 20, 10)).is_ok());
  ASSERT_TRUE(sim.add(request(3, 20, 10)).is_ok());
  const Status s = sim.add(request(4, 20, 10));
  EXPECT_EQ(s.code(), StatusCode::kExhausted);
  EXPECT_EQ(s.message(), "2 requests are waiting already, which is all that the queue holds; try again later");
  EXPECT_EQ(sim.scheduler().counts().refused, 1);
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
}

TEST(Scheduler, what_could_never_run_is_refused_at_once) {
  Simulation sim({.step_tokens = 32}, {.pages = 4, .page_tokens = 16, .sequences = 2});
  EXPECT_EQ(sim.add(request(1, 0, 10)).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(sim.add(request(1, 10, 0)).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(sim.add(request(1, 40, 25)).code(), StatusCode::kInvalidArgument);
  NewRequest three = request(1, 10, 5);
  three.choices = 3;
  EXPECT_EQ(sim.add(three).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(sim.add(request(1, 40, 24)).is_ok());
  EXPECT_EQ(sim.add(request(1, 10, 10)).code(), StatusCode::kInvalidArgument) << "the id is in use";
  EXPECT_EQ(sim.scheduler().longest_sequence(), 64);
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
}

TEST(Scheduler, draining_refuses_new_requests_and_lets_the_others_end) {
  Simulation sim({.step_tokens = 32}, kCache);
  ASSERT_TRUE(sim.add(request(1, 20, 10)).is_ok());
  sim.scheduler().drain();
  EXPECT_EQ(sim.add(request(2, 20, 10)).code(), StatusCode::kUnavailable);
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
  EXPECT_EQ(sim.lives[1].answers[0].reason, EndReason::kDone);
}

TEST(Scheduler, a_prefix_that_another_is_computing_is_computed_once) {
  Simulation sim({.step_tokens = 128}, {.pages = 300, .page_tokens = 16, .sequences = 16});
  for (uint64_t id = 1; id <= 10; ++id) {
    NewRequest r = request(id, 1000, 5, 7);
    r.prompt.push_back(static_cast<int32_t>(id));
    ASSERT_TRUE(sim.add(std::move(r)).is_ok());
  }
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
  // 62 whole pages are found; what is behind them, and what the first computes, is not.
  EXPECT_EQ(sim.scheduler().counts().prompt_tokens, 1001 + 9 * (1001 - 992));
}

TEST(Scheduler, different_keys_compute_for_themselves) {
  Simulation sim({.step_tokens = 128}, {.pages = 300, .page_tokens = 16, .sequences = 16});
  for (uint64_t id = 1; id <= 3; ++id) {
    NewRequest r = request(id, 200, 5, 7);
    r.key = std::string(id, 'k');
    ASSERT_TRUE(sim.add(std::move(r)).is_ok());
  }
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
  EXPECT_EQ(sim.scheduler().counts().prompt_tokens, 600);
}

TEST(Scheduler, choices_compute_their_prompt_once) {
  Simulation sim({.step_tokens = 128}, kCache);
  NewRequest r = request(1, 100, 20);
  r.choices = 5;
  ASSERT_TRUE(sim.add(std::move(r)).is_ok());
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
  EXPECT_EQ(sim.scheduler().counts().prompt_tokens, 100);
  EXPECT_EQ(sim.scheduler().counts().answer_tokens, 100);
}

TEST(Scheduler, beams_go_on_from_each_other) {
  Simulation sim({.step_tokens = 128}, kCache);
  sim.keep_steps = true;
  NewRequest r = request(1, 100, 20);
  r.choices = 4;
  r.beams = true;
  ASSERT_TRUE(sim.add(std::move(r)).is_ok());
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
  EXPECT_EQ(sim.scheduler().counts().prompt_tokens, 100);
  EXPECT_EQ(sim.pages_in_use(), 0);
  for (const Step& s : sim.steps) EXPECT_TRUE(s.outputs == 4 || s.runs.empty());
}

TEST(Scheduler, beams_that_pause_compute_their_prompt_once_when_they_go_on) {
  Simulation sim({.step_tokens = 64}, {.pages = 13, .page_tokens = 16, .sequences = 4});
  ASSERT_TRUE(sim.add(request(1, 64, 64)).is_ok());
  NewRequest beams = request(2, 60, 20);
  beams.choices = 3;
  beams.beams = true;
  ASSERT_TRUE(sim.add(std::move(beams)).is_ok());
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
  EXPECT_GT(sim.scheduler().counts().pauses, 0);
  EXPECT_LE(sim.scheduler().counts().prompt_tokens, 64 + 60 + 2 * (60 + 3 * 20));
}

TEST(Scheduler, drafts_that_are_right_make_an_answer_come_in_fewer_steps) {
  Simulation sim({.step_tokens = 128}, kCache);
  sim.drafts = 4;
  ASSERT_TRUE(sim.add(request(1, 100, 60)).is_ok());
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
  EXPECT_LT(sim.scheduler().counts().steps, 50);
  EXPECT_EQ(sim.scheduler().counts().answer_tokens, 60);
}

TEST(Scheduler, a_step_that_could_not_be_run_is_planned_again) {
  Simulation sim({.step_tokens = 32}, kCache);
  ASSERT_TRUE(sim.add(request(1, 50, 10)).is_ok());
  for (int i = 0; i < 5; ++i) {
    ASSERT_FALSE(sim.scheduler().plan(sim.now_us).runs.empty());
    sim.scheduler().undo();
    ASSERT_TRUE(sim.step());
  }
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
}

TEST(Scheduler, a_large_request_that_waits_for_room_is_not_overtaken) {
  Simulation sim({.step_tokens = 64}, {.pages = 16, .page_tokens = 16, .sequences = 4});
  ASSERT_TRUE(sim.add(request(1, 100, 30)).is_ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(sim.step());
  ASSERT_TRUE(sim.add(request(2, 200, 5)).is_ok());
  for (uint64_t id = 3; id <= 6; ++id) ASSERT_TRUE(sim.add(request(id, 16, 5)).is_ok());
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
  for (uint64_t id = 3; id <= 6; ++id)
    EXPECT_GE(sim.lives[id].answers[0].times_us[0], sim.lives[2].answers[0].times_us[0]);
}

TEST(Scheduler, without_eviction_every_choice_is_reckoned_with) {
  Simulation sim({.step_tokens = 64, .policy = Policy::kGuaranteedNoEvict},
                 {.pages = 14, .page_tokens = 4, .sequences = 8});
  for (uint64_t id = 1; id <= 4; ++id) {
    NewRequest r = request(id, 5, 10);
    r.choices = 3;  // a page of the prompt that all share, and three more for each
    ASSERT_TRUE(sim.add(std::move(r)).is_ok());
  }
  ASSERT_TRUE(sim.step());
  EXPECT_EQ(sim.scheduler().counts().running, 1);
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
  EXPECT_EQ(sim.scheduler().counts().pauses, 0);
  NewRequest r = request(9, 5, 10);
  r.choices = 5;
  EXPECT_EQ(sim.add(std::move(r)).message(),
            "15 tokens of prompt and answer (5 choices) need 16 pages of the key/value cache, which has 14; ask for "
            "less");
}

TEST(Scheduler, drafts_leave_every_answer_its_next_token) {
  Simulation sim({.step_tokens = 8}, {.pages = 64, .page_tokens = 16, .sequences = 8});
  sim.drafts = 7;
  sim.keep_steps = true;
  for (uint64_t id = 1; id <= 8; ++id) ASSERT_TRUE(sim.add(request(id, 1, 10)).is_ok());
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
  for (size_t i = 1; i < 9; ++i) EXPECT_EQ(sim.steps[i].runs.size(), 8U) << "step " << i;
}

TEST(Scheduler, nobody_waits_for_a_prefix_of_another_key) {
  Simulation sim({.step_tokens = 512}, {.pages = 300, .page_tokens = 16, .sequences = 16});
  for (uint64_t id = 1; id <= 3; ++id) {
    NewRequest r = request(id, 100, 5, 7);
    r.key = std::string(id, 'k');
    ASSERT_TRUE(sim.add(std::move(r)).is_ok());
  }
  ASSERT_TRUE(sim.step());
  EXPECT_EQ(sim.scheduler().counts().running, 3);
}

// The simulation compares every answer with what the tokens that stay would get alone.
TEST(Scheduler, an_answer_that_fills_its_context_goes_on_from_its_first_tokens_and_the_newer_half) {
  for (int drafts : {0, 3})
    for (int32_t keep : {0, 4, 20, 1000}) {
      Simulation sim({.step_tokens = 32}, {.pages = 12, .page_tokens = 16, .sequences = 4});
      sim.drafts = drafts;
      for (uint64_t id = 1; id <= 2; ++id) {
        NewRequest r = request(id, 40, 300);
        r.shift_at = 64;
        r.shift_keep = keep;
        ASSERT_TRUE(sim.add(std::move(r)).is_ok());
      }
      ASSERT_TRUE(sim.run_all()) << sim.wrong << " keep " << keep << " drafts " << drafts;
      EXPECT_EQ(sim.lives[2].answers[0].tokens.size(), 300U);
      EXPECT_GE(sim.scheduler().counts().shifts, 2 * (300 - 24) / 32 - 2);
    }
}

TEST(Scheduler, an_answer_that_shifts_needs_no_more_pages_than_its_context) {
  Simulation sim({.step_tokens = 32, .policy = Policy::kGuaranteedNoEvict},
                 {.pages = 4, .page_tokens = 16, .sequences = 4});
  NewRequest r = request(1, 40, 500);
  EXPECT_FALSE(sim.scheduler().add(r, 0).is_ok());
  r.shift_at = 64;
  ASSERT_TRUE(sim.add(r).is_ok());
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
  EXPECT_EQ(sim.scheduler().counts().pauses, 0);
}

TEST(Scheduler, choices_of_one_prompt_shift_each_on_its_own) {
  Simulation sim({.step_tokens = 64}, {.pages = 32, .page_tokens = 16, .sequences = 4});
  NewRequest r = request(1, 60, 100);
  r.choices = 3;
  r.shift_at = 64;
  r.shift_keep = 8;
  ASSERT_TRUE(sim.add(std::move(r)).is_ok());
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
}

TEST(Scheduler, a_context_too_short_to_shift_is_refused) {
  Simulation sim({}, kCache);
  for (int32_t at : {1, 3, 39, -5}) {
    NewRequest r = request(1, 40, 10);
    r.shift_at = at;
    EXPECT_EQ(sim.scheduler().add(std::move(r), 0).code(), StatusCode::kInvalidArgument) << at;
  }
}

TEST(Scheduler, options_out_of_bounds_are_named) {
  const auto made = [](SchedulerOptions o) { return Scheduler::make(o, kCache).status().message(); };
  EXPECT_NE(made({.step_tokens = 0}).find("step_tokens is 0"), std::string::npos);
  EXPECT_NE(made({.step_tokens = 7}).find("too short for 8 sequences"), std::string::npos);
  EXPECT_NE(made({.max_queue = 0}).find("max_queue is 0"), std::string::npos);
  EXPECT_NE(Scheduler::make({}, {.pages = 0}).status().message().find("pages is 0"), std::string::npos);
}

}  // namespace
}  // namespace nereid::schedule
