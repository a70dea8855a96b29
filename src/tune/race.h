// SPDX-License-Identifier: Apache-2.0
// A fair race between ways to do the same work on a machine that others use too.
//
// Everybody warms up with two runs, the second of which sizes the batches; who is then far behind and stays so in two
// more runs does not start. Then, round by round, every entrant runs one batch, starting with another one each round,
// so that a slow moment of the machine hits all of them. An entrant's time is its least batch: disturbances only ever
// add. Who is far behind the leader leaves, the later the noisier the machine; the race ends when one is left, the
// rounds are over or the time is. The first entrant is what would be done without a race. Another takes its place only
// if its least time is better by the margin and by what the first one's is uncertain by (the distance to its second
// least), and if a quarter of its batches, two at least, are better than the first one's least. Nothing here measures
// anything but the clock that is given.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/status.h"

namespace nereid::tune {

struct Entrant {
  // Does the work so many times; the race looks at the clock before and after.
  std::function<void(int64_t times)> run;
  // Relative disadvantage for what time does not show (memory, rounding): 0.05 must be 5 % faster to be as good.
  double handicap = 0;
  // An entrant before this one of which it is a variant: if that one is hopeless, so is this, without a run.
  std::optional<size_t> variant_of;
};

struct RaceRules {
  int64_t budget_ns = 50'000'000;  // of the whole race; two rounds are run in any case
  int64_t batch_ns = 200'000;      // a batch is about so long, or one run
  int rounds_least = 4;            // before a leader is believed
  int rounds_most = 16;
  double margin = 0.02;
};

struct Racer {
  double best_ns = 0;            // of one run; infinite without one
  std::vector<double> batch_ns;  // of one run, round by round
  bool given_up = false;
};

struct RaceResult {
  std::vector<Racer> racers;  // as the entrants
  size_t winner = 0;
  std::string reason;  // a phrase
  int rounds = 0;
};

// At least one entrant. kCancelled: Ctrl-C.
Result<RaceResult> race(std::span<const Entrant> entrants, const Clock& clock, const RaceRules& rules);

}  // namespace nereid::tune
