// SPDX-License-Identifier: Apache-2.0
// A million random events: no request is lost, none ends twice, no budget is exceeded, every answer is what it is
// alone, every request ends within a bound, and no page is left over.
#include <gtest/gtest.h>

#include <ostream>
#include <random>

#include "llm/kv/test_shrink.h"
#include "llm/schedule/test_simulation.h"

namespace nereid::schedule {
namespace {

struct Event {
  enum Kind : uint8_t { kAdd, kStep, kCancel, kUndo, kRest };
  Kind kind = kStep;
  uint32_t a = 0, b = 0, c = 0;
};

std::ostream& operator<<(std::ostream& out, const Event& e) {
  static constexpr const char* kNames[] = {"add", "step", "cancel", "undo", "rest"};
  return out << "{" << kNames[e.kind] << " " << e.a << " " << e.b << " " << e.c << "}";
}

struct Kind {
  const char* name;
  SchedulerOptions options;
  kv::CacheOptions cache;
  int drafts = 0;
};

constexpr int32_t kMostPrompt = 80, kMostAnswer = 24, kMostChoices = 3;

// All of these can hold the longest request with its choices: (80 + 24) / 8 pages and two more answers.
const Kind kKinds[] = {
    {"plenty", {.step_tokens = 64, .prompt_tokens_beside = 24}, {.pages = 200, .page_tokens = 8, .sequences = 8}},
    {"few_pages", {.step_tokens = 48, .prompt_tokens_beside = 16}, {.pages = 22, .page_tokens = 8, .sequences = 6}},
    {"few_pages_drafts", {.step_tokens = 64}, {.pages = 26, .page_tokens = 8, .sequences = 6}, 3},
    {"no_evict",
     {.step_tokens = 48, .policy = Policy::kGuaranteedNoEvict},
     {.pages = 40, .page_tokens = 8, .sequences = 6},
     2},
    {"offload",
     {.step_tokens = 48, .prompt_tokens_beside = 8},
     {.pages = 24, .page_tokens = 8, .sequences = 5, .host_pages = 30}},
    {"window",
     {.step_tokens = 24, .prompt_tokens_beside = 10},
     {.pages = 60, .page_tokens = 4, .sequences = 6, .window = 20, .sinks = 4, .rollback = 4},
     2},
    {"no_reuse", {.step_tokens = 40, .max_queue = 5}, {.pages = 30, .page_tokens = 8, .sequences = 4, .reuse = false}},
    {"one_row_short_queue", {.step_tokens = 16, .max_queue = 2}, {.pages = 16, .page_tokens = 16, .sequences = 3}},
};

// Ten of a step's length, so that priorities, which the events draw from 0 to 3, do not hold anybody up for long.
constexpr int64_t kLevelUs = 50'000;

std::vector<Event> random_events(uint64_t seed, size_t count) {
  std::mt19937_64 random(seed);
  std::vector<Event> events(count);
  for (Event& e : events) {
    const uint64_t r = random() % 100;
    e.kind = r < 18   ? Event::kAdd
             : r < 92 ? Event::kStep
             : r < 96 ? Event::kCancel
             : r < 98 ? Event::kUndo
                      : Event::kRest;
    e.a = static_cast<uint32_t>(random());
    e.b = static_cast<uint32_t>(random());
    e.c = static_cast<uint32_t>(random());
  }
  return events;
}

NewRequest request_of(const Event& e, uint64_t id, int64_t now_us) {
  NewRequest r;
  r.id = {id};
  // Some stems, which many prompts begin with for a while.
  const auto length = static_cast<int32_t>(1 + e.a % static_cast<uint32_t>(kMostPrompt));
  const auto stem = static_cast<int32_t>(e.b % 4);
  const auto shared = static_cast<int32_t>(e.b % 61);
  for (int32_t i = 0; i < length; ++i) r.prompt.push_back(i < shared ? stem : static_cast<int32_t>((e.c + id) % 9));
  r.max_tokens = static_cast<int32_t>(1 + e.c % static_cast<uint32_t>(kMostAnswer));
  r.choices = e.a % 5 == 0 ? static_cast<int32_t>(1 + e.b % static_cast<uint32_t>(kMostChoices)) : 1;
  r.beams = r.choices > 1 && e.c % 2 == 0;
  r.priority = static_cast<int32_t>(e.c % 4);
  r.deadline_us = e.a % 3 == 0 ? now_us + static_cast<int64_t>(e.b % 100'000) : 0;
  r.expires_us = e.b % 11 == 0 ? now_us + static_cast<int64_t>(e.c % 200'000) : 0;
  r.user = std::string("uvwxyz").substr(0, e.c % 6);
  r.key = e.b % 7 == 0 ? "adapter" : "";
  r.reuse_prefix = e.a % 13 != 0;
  if (e.c % 5 == 0 && !r.beams) {
    r.shift_at = std::max(4, length + static_cast<int32_t>(e.a % 9));
    r.shift_keep = static_cast<int32_t>(e.b % 40);
  }
  r.retention.priority = e.a % 4 == 0 ? static_cast<int32_t>(e.c % 101) : 50;
  return r;
}

// Empty when all is well.
std::string run(const Kind& kind, const std::vector<Event>& events, SchedulerCounts* counts = nullptr) {
  SchedulerOptions options = kind.options;
  options.level_us = kLevelUs;
  Simulation sim(options, kind.cache);
  sim.drafts = kind.drafts;
  uint64_t id = 0, added = 0;
  const auto forget_ended = [&] {
    // The longest life there may be: all that can be at hand, one token a step, and again for what pauses cost.
    const int64_t bound = (options.max_queue + kind.cache.sequences + 4) * (kMostPrompt + kMostChoices * kMostAnswer) *
                          (sim.step_us + sim.token_us) * 2;
    std::erase_if(sim.lives, [&](const auto& pair) {
      const Simulation::Life& life = pair.second;
      const int64_t lived_us = (life.left == 0 ? life.end_us : sim.now_us) - life.arrival_us;
      if (lived_us > bound && sim.wrong.empty()) sim.wrong = "request " + std::to_string(pair.first) + " starves";
      return life.left == 0;
    });
  };
  for (const Event& e : events) {
    switch (e.kind) {
      case Event::kAdd:
        added += sim.add(request_of(e, ++id, sim.now_us)).is_ok();
        break;
      case Event::kStep:
        sim.step();
        break;
      case Event::kCancel:
        sim.scheduler().cancel({id - e.a % 12});
        break;
      case Event::kUndo:
        sim.step_and_undo();
        break;
      case Event::kRest:
        sim.now_us += e.a % 20'000;
        break;
    }
    if (e.a % 256 == 0) {
      forget_ended();
      if (const Status s = sim.scheduler().cache().audit(); !s.is_ok() && sim.wrong.empty()) sim.wrong = s.message();
    }
    if (!sim.wrong.empty()) return sim.wrong;
  }
  sim.scheduler().drain();
  if (!sim.run_all()) return sim.wrong.empty() ? "not all requests end" : sim.wrong;
  forget_ended();
  if (!sim.lives.empty()) return "a request is lost";
  const SchedulerCounts n = sim.scheduler().counts();
  if (counts) *counts = n;
  if (n.done + n.cancelled + n.timed_out != static_cast<int64_t>(added)) return "the counts of ends do not add up";
  if (n.waiting + n.running != 0) return "something still waits or runs";
  if (kind.options.policy == Policy::kGuaranteedNoEvict && n.pauses > 0) return "somebody had to pause";
  if (sim.pages_in_use() != 0) return "pages are left over";
  const Status s = sim.scheduler().cache().audit();
  return s.is_ok() ? sim.wrong : s.message();
}

class SchedulerRandom : public testing::TestWithParam<Kind> {};

TEST_P(SchedulerRandom, whatever_happens_every_request_ends_once_with_the_answer_it_gets_alone) {
  constexpr size_t kEvents = 13'000;
  constexpr uint64_t kSeeds = 10;  // with eight kinds more than a million events
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::vector<Event> events = random_events(seed, kEvents);
    const std::string wrong = run(GetParam(), events);
    if (wrong.empty()) continue;
    const std::vector<Event> few =
        kv::shrink(events, [](const std::vector<Event>& some) { return !run(GetParam(), some).empty(); });
    std::string list;
    for (const Event& e : few) list += "\n  " + testing::PrintToString(e);
    FAIL() << "seed " << seed << ": " << wrong << "; of the least events that do it: " << run(GetParam(), few) << list;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, SchedulerRandom, testing::ValuesIn(kKinds),
                         [](const auto& kind) { return kind.param.name; });

TEST(SchedulerRandom, the_random_events_reach_what_they_are_to_test) {
  SchedulerCounts few_pages;
  EXPECT_EQ(run(kKinds[1], random_events(1, 13'000), &few_pages), "");
  for (int64_t count :
       {few_pages.done, few_pages.cancelled, few_pages.timed_out, few_pages.pauses, few_pages.reused_tokens})
    EXPECT_GT(count, 50);
  SchedulerCounts short_queue;
  EXPECT_EQ(run(kKinds[7], random_events(1, 13'000), &short_queue), "");
  EXPECT_GT(short_queue.refused, 50);
}

}  // namespace
}  // namespace nereid::schedule
