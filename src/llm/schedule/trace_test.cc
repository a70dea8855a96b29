// SPDX-License-Identifier: Apache-2.0
#include "llm/schedule/trace.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "llm/schedule/test_simulation.h"

namespace nereid::schedule {
namespace {

// The phases of a request in the order of time, as "name from to" in milliseconds.
std::vector<std::string> phases(const Json& trace, uint64_t request) {
  std::vector<std::pair<int64_t, std::string>> found;
  for (const Json& e : trace["traceEvents"])
    if (e.value("cat", "") == "request" && e["tid"] == request) {
      const int64_t from = e["ts"], duration = e["dur"];
      found.emplace_back(from, e["name"].get<std::string>() + " " + std::to_string(from / 1000) + " " +
                                   std::to_string((from + duration) / 1000));
    }
  std::ranges::sort(found);
  std::vector<std::string> texts;
  for (auto& [from, text] : found) texts.push_back(std::move(text));
  return texts;
}

TEST(Trace, a_request_waits_reads_its_prompt_and_answers) {
  Simulation sim({.step_tokens = 16}, {.pages = 64, .page_tokens = 16, .sequences = 1});
  sim.token_us = 0;
  TraceWriter trace;
  for (uint64_t id = 1; id <= 2; ++id) {
    NewRequest r;
    r.id = {id};
    r.prompt.assign(32, static_cast<int32_t>(id));
    r.max_tokens = 3;
    ASSERT_TRUE(sim.add(std::move(r)).is_ok());
    trace.added({id}, sim.now_us);
  }
  sim.trace = &trace;
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
  const Json json = Json::parse(trace.json());
  // Steps of a millisecond: two for the prompt, the second of which gives the first token, and two for the others.
  EXPECT_EQ(phases(json, 1), (std::vector<std::string>{"prompt 0 2", "answer 2 4"}));
  EXPECT_EQ(phases(json, 2), (std::vector<std::string>{"queued 0 4", "prompt 4 6", "answer 6 8"}));
  int64_t steps = 0, tokens = 0;
  for (const Json& e : json["traceEvents"])
    if (e.value("cat", "") == "step") {
      ++steps;
      tokens += e["args"]["tokens"].get<int64_t>();
    }
  EXPECT_EQ(steps, 8);
  EXPECT_EQ(tokens, 2 * (32 + 2));
}

TEST(Trace, what_pauses_and_what_is_cancelled_shows) {
  Simulation sim({.step_tokens = 64}, {.pages = 8, .page_tokens = 16, .sequences = 4});
  TraceWriter trace;
  for (uint64_t id = 1; id <= 3; ++id) {
    NewRequest r;
    r.id = {id};
    r.prompt.assign(16, static_cast<int32_t>(id));
    r.max_tokens = 48;
    ASSERT_TRUE(sim.add(std::move(r)).is_ok());
    trace.added({id}, 0);
  }
  sim.trace = &trace;
  for (int i = 0; i < 10; ++i) sim.step();
  sim.scheduler().cancel({2});
  const int64_t cancelled_at_us = sim.now_us;
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
  const std::string text = trace.json();
  EXPECT_EQ(phases(Json::parse(text), 2).back(), "answer 5 " + std::to_string(cancelled_at_us / 1000));
  EXPECT_NE(text.find("\"used\":"), std::string::npos);
}

TEST(Trace, it_holds_no_more_events_than_it_may) {
  Simulation sim({.step_tokens = 16}, {.pages = 64, .page_tokens = 16, .sequences = 1});
  TraceWriter trace(10);
  NewRequest r;
  r.id = {1};
  r.prompt.assign(32, 1);
  r.max_tokens = 100;
  ASSERT_TRUE(sim.add(std::move(r)).is_ok());
  sim.trace = &trace;
  ASSERT_TRUE(sim.run_all()) << sim.wrong;
  EXPECT_EQ(trace.events(), 10U);
  EXPECT_EQ(Json::parse(trace.json())["otherData"]["left_out_events"], trace.left_out());
}

}  // namespace
}  // namespace nereid::schedule
