// SPDX-License-Identifier: Apache-2.0
// race, in a time of its own: entrants are functions that move the clock.
#include "tune/race.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace nereid::tune {
namespace {

using ::testing::HasSubstr;

// Work that takes `ns` a run, and more where `noise` says so for the n-th batch.
struct Track {
  VirtualClock clock;
  std::vector<int64_t> batches, runs;

  Entrant entrant(int64_t ns, std::function<double(int64_t batch)> noise = {}, double handicap = 0) {
    const size_t me = batches.size();
    batches.push_back(0);
    runs.push_back(0);
    return {.run =
                [this, me, ns, noise = std::move(noise)](int64_t times) {
                  const double factor = noise ? noise(batches[me]) : 1;
                  ++batches[me];
                  runs[me] += times;
                  clock.advance(static_cast<int64_t>(static_cast<double>(ns * times) * factor));
                },
            .handicap = handicap};
  }
  RaceResult race(const std::vector<Entrant>& entrants, const RaceRules& rules = {.budget_ns = 1'000'000'000}) {
    return tune::race(entrants, clock, rules).value();
  }
};

TEST(Race, a_clearly_faster_entrant_takes_the_defaults_place) {
  Track t;
  const RaceResult r = t.race({t.entrant(1'000'000), t.entrant(700'000), t.entrant(900'000)});
  EXPECT_EQ(r.winner, 1U);
  EXPECT_DOUBLE_EQ(r.racers[1].best_ns, 700'000);
  EXPECT_THAT(r.reason, HasSubstr("30.0 % faster"));
}

TEST(Race, a_gain_below_the_margin_changes_nothing) {
  Track t;
  const RaceResult r = t.race({t.entrant(1'000'000), t.entrant(985'000)});
  EXPECT_EQ(r.winner, 0U);
  EXPECT_THAT(r.reason, HasSubstr("within the noise"));
}

TEST(Race, the_default_stays_where_it_is_the_fastest) {
  Track t;
  const RaceResult r = t.race({t.entrant(1'000'000), t.entrant(1'010'000)});
  EXPECT_EQ(r.winner, 0U);
  EXPECT_THAT(r.reason, HasSubstr("nothing was faster"));
}

TEST(Race, a_handicap_must_be_made_up_for) {
  Track t;
  EXPECT_EQ(t.race({t.entrant(1'000'000), t.entrant(950'000, {}, 0.06)}).winner, 0U);
  EXPECT_EQ(t.race({t.entrant(1'000'000), t.entrant(900'000, {}, 0.06)}).winner, 1U);
}

TEST(Race, disturbances_that_only_add_hide_nobody) {
  Track t;
  std::mt19937 random(7);
  const auto noisy = [&](int64_t) { return random() % 3 == 0 ? 1 + static_cast<double>(random() % 300) / 100 : 1.0; };
  int right = 0;
  for (int i = 0; i < 50; ++i)
    right += t.race({t.entrant(1'000'000, noisy), t.entrant(850'000, noisy)}).winner == 1 ? 1 : 0;
  EXPECT_GE(right, 45) << "seed 7";
}

TEST(Race, equal_entrants_on_a_noisy_machine_hardly_ever_change_places) {
  Track t;
  std::mt19937 random(11);
  const auto noisy = [&](int64_t) { return 1 + static_cast<double>(random() % 100) / 200; };
  int changed = 0;
  for (int i = 0; i < 200; ++i)
    changed +=
        t.race({t.entrant(1'000'000, noisy), t.entrant(1'000'000, noisy), t.entrant(1'000'000, noisy)}).winner > 0;
  EXPECT_LE(changed, 10) << "seed 11";
}

TEST(Race, one_lucky_batch_is_not_believed) {
  Track t;
  // Its clock jumped once; otherwise it is slower.
  const auto lucky = [](int64_t batch) { return batch == 6 ? 0.5 : 1.0; };
  const RaceResult r = t.race({t.entrant(1'000'000), t.entrant(1'050'000, lucky)});
  EXPECT_EQ(r.winner, 0U);
}

TEST(Race, the_hopeless_leave_early) {
  Track t;
  const RaceResult r = t.race({t.entrant(1'000'000), t.entrant(800'000), t.entrant(3'000'000), t.entrant(1'100'000)});
  EXPECT_EQ(r.winner, 1U);
  EXPECT_TRUE(r.racers[2].given_up);
  EXPECT_TRUE(r.racers[2].batch_ns.empty()) << "three times as slow is seen in the warm-up";
  EXPECT_TRUE(r.racers[3].given_up);
  EXPECT_LT(r.racers[3].batch_ns.size(), 4U);
  EXPECT_DOUBLE_EQ(r.racers[2].best_ns, 3'000'000) << "a time is there for the report";
}

TEST(Race, variants_of_the_hopeless_do_not_run) {
  Track t;
  std::vector<Entrant> entrants = {t.entrant(1'000'000), t.entrant(9'000'000), t.entrant(100'000), t.entrant(900'000)};
  entrants[2].variant_of = 1;
  entrants[3].variant_of = 0;
  const RaceResult r = t.race(entrants);
  EXPECT_TRUE(r.racers[2].given_up);
  EXPECT_EQ(t.runs[2], 0);
  EXPECT_EQ(r.winner, 3U);
}

TEST(Race, a_race_with_one_left_ends) {
  Track t;
  const RaceResult r = t.race({t.entrant(1'000'000), t.entrant(500'000)});
  EXPECT_EQ(r.rounds, RaceRules{}.rounds_least);
}

TEST(Race, time_is_bounded) {
  Track t;
  const int64_t before = t.clock.now_ns();
  const RaceResult r = t.race({t.entrant(10'000'000), t.entrant(9'900'000)}, {.budget_ns = 100'000'000});
  EXPECT_GE(r.rounds, 1);
  EXPECT_LE(t.clock.now_ns() - before, 100'000'000 + 2 * 10'000'000);
}

TEST(Race, two_rounds_are_run_even_without_time) {
  Track t;
  const RaceResult r = t.race({t.entrant(1'000'000'000), t.entrant(400'000'000)}, {.budget_ns = 1});
  EXPECT_EQ(r.rounds, 2);
  EXPECT_EQ(r.winner, 1U);
}

TEST(Race, short_work_is_run_in_batches) {
  Track t;
  const RaceResult r = t.race({t.entrant(1'000), t.entrant(990)});
  EXPECT_GE(t.runs[0], r.rounds * 200);
  EXPECT_NEAR(r.racers[0].best_ns, 1'000, 1);
}

TEST(Race, work_that_takes_no_time_is_no_division_by_zero) {
  Track t;
  const RaceResult r = t.race({t.entrant(0), t.entrant(0)});
  EXPECT_EQ(r.winner, 0U);
}

}  // namespace
}  // namespace nereid::tune
