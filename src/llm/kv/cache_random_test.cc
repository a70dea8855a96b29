// SPDX-License-Identifier: Apache-2.0
// A million random events: no page is leaked, none is shared wrongly, and every sequence finds what it has computed.
#include <gtest/gtest.h>

#include <random>

#include "llm/kv/test_machine.h"
#include "llm/kv/test_shrink.h"

namespace nereid::kv {
namespace {

struct Kind {
  const char* name;
  CacheOptions options;
};

const Kind kKinds[] = {
    {"plain", {.pages = 40, .page_tokens = 16, .sequences = 8}},
    {"small_pages", {.pages = 60, .page_tokens = 4, .sequences = 6}},
    {"offload", {.pages = 30, .page_tokens = 16, .sequences = 6, .host_pages = 25}},
    {"few_host_places", {.pages = 24, .page_tokens = 8, .sequences = 5, .host_pages = 3}},
    {"window", {.pages = 40, .page_tokens = 8, .sequences = 6, .window = 40}},
    {"window_sinks_offload",
     {.pages = 40, .page_tokens = 8, .sequences = 6, .host_pages = 12, .window = 33, .sinks = 12, .rollback = 5}},
    {"no_reuse", {.pages = 40, .page_tokens = 16, .sequences = 8, .reuse = false}},
    {"one_token_pages", {.pages = 100, .page_tokens = 1, .sequences = 4, .host_pages = 10}},
};

std::vector<Event> random_events(uint64_t seed, size_t count) {
  std::mt19937_64 random(seed);
  // As often as it happens: mostly steps that append.
  static constexpr Event::Kind kMix[] = {Event::kOpen,   Event::kOpen,  Event::kAppend,   Event::kAppend,
                                         Event::kAppend, Event::kStep,  Event::kStep,     Event::kFork,
                                         Event::kClose,  Event::kClose, Event::kTruncate, Event::kTime};
  std::vector<Event> events(count);
  for (Event& e : events) {
    const uint64_t r = random();
    e.kind = r % 997 == 0 ? Event::kForget : kMix[(r >> 10) % std::size(kMix)];
    e.a = static_cast<uint32_t>(r >> 32);
    e.b = static_cast<uint32_t>(random());
    e.c = static_cast<uint32_t>(random());
  }
  return events;
}

std::string run(const CacheOptions& options, const std::vector<Event>& events, size_t audit_every) {
  TestMachine machine(options);
  for (size_t i = 0; i < events.size(); ++i) {
    if (std::string wrong = machine.apply(events[i]); !wrong.empty()) return wrong;
    if (i % audit_every) continue;
    if (std::string wrong = machine.audit(); !wrong.empty()) return wrong;
  }
  return machine.finish();
}

class CacheRandom : public testing::TestWithParam<Kind> {};

TEST_P(CacheRandom, no_page_is_leaked_and_none_is_shared_wrongly_whatever_happens) {
  constexpr size_t kEvents = 5000;
  constexpr uint64_t kSeeds = 26;  // with eight kinds more than a million events
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::vector<Event> events = random_events(seed, kEvents);
    std::string wrong = run(GetParam().options, events, 100);
    if (wrong.empty()) continue;
    const std::vector<Event> few =
        shrink(events, [](const std::vector<Event>& some) { return !run(GetParam().options, some, 1).empty(); });
    std::string list;
    for (const Event& e : few) list += "\n  " + testing::PrintToString(e);
    FAIL() << "seed " << seed << ": " << wrong
           << "; of the least events that do it: " << run(GetParam().options, few, 1) << list;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, CacheRandom, testing::ValuesIn(kKinds),
                         [](const auto& kind) { return kind.param.name; });

TEST(CacheRandom, the_random_events_reach_what_they_are_to_test) {
  TestMachine machine(kKinds[2].options);
  for (const Event& e : random_events(1, 5000)) ASSERT_EQ(machine.apply(e), "");
  const CacheCounts n = machine.cache().counts();
  for (int64_t count :
       {n.reused_tokens, n.copied_tokens, n.evicted_pages, n.offloaded_pages, n.restored_pages, n.merged_pages})
    EXPECT_GT(count, 50);
}

}  // namespace
}  // namespace nereid::kv
