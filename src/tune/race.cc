// SPDX-License-Identifier: Apache-2.0
#include "tune/race.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/interrupt.h"

namespace nereid::tune {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr int kLeastRounds = 2;         // whatever the time: one says nothing of the noise
constexpr int64_t kMostRuns = 1 << 14;  // of a batch

// How far behind the leader's least time an entrant may be after so many rounds: the more rounds, the less a least time
// can still fall.
double slack_after(int rounds) {
  return rounds <= 1 ? 0.6 : rounds <= 2 ? 0.3 : rounds <= 4 ? 0.15 : 0.07;
}

// The n-th least, from 0; the greatest where there are fewer.
double least(std::vector<double> times, size_t n) {
  n = std::min(n, times.size() - 1);
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(n));
  return times[n];
}

double handicapped(const Entrant& e, const Racer& r) {
  return r.best_ns * (1 + e.handicap);
}

class Race {
 public:
  Race(std::span<const Entrant> entrants, const Clock& clock, const RaceRules& rules)
      : entrants_(entrants), clock_(clock), rules_(rules), runs_(entrants.size(), 1) {
    result_.racers.resize(entrants.size());
  }

  Result<RaceResult> run() {
    const int64_t start_ns = clock_.now_ns();
    NEREID_RETURN_IF_ERROR(warm_up());
    const auto spent = [&] { return clock_.now_ns() - start_ns >= rules_.budget_ns; };
    while (result_.rounds < rules_.rounds_most && (result_.rounds < kLeastRounds || !spent())) {
      NEREID_RETURN_IF_ERROR(run_round());
      drop_the_hopeless();
      if (std::ranges::count(result_.racers, false, &Racer::given_up) <= 1 && result_.rounds >= rules_.rounds_least)
        break;
    }
    decide();
    return std::move(result_);
  }

 private:
  double timed(size_t i, int64_t times) {
    const int64_t before = clock_.now_ns();
    entrants_[i].run(times);
    return static_cast<double>(clock_.now_ns() - before) / static_cast<double>(times);
  }

  Status warm_up() {
    std::vector<double>& once = warm_;
    once.resize(entrants_.size());
    double fastest = kNever;
    for (size_t i = 0; i < entrants_.size(); ++i) {
      NEREID_RETURN_IF_ERROR(check_interrupted());
      once[i] = kNever;
      if (const auto of = entrants_[i].variant_of) {
        const double limit = fastest * (1 + slack_after(0));
        if (once[*of] > limit && once[*of] < kNever) once[*of] = std::min(once[*of], timed(*of, 1));
        if (once[*of] > limit) continue;
      }
      timed(i, 1);
      once[i] = std::max(timed(i, 1), 1.0);
      fastest = std::min(fastest, once[i]);
      runs_[i] =
          std::clamp(static_cast<int64_t>(static_cast<double>(rules_.batch_ns) / once[i]), int64_t{1}, kMostRuns);
    }
    const double limit = fastest * (1 + slack_after(0));
    for (size_t i = 1; i < entrants_.size(); ++i) {
      // One run is easily disturbed: who seems hopeless gets two more chances.
      for (int chances = 2; chances > 0 && once[i] > limit && once[i] < kNever; --chances)
        once[i] = std::min(once[i], timed(i, 1));
      result_.racers[i].given_up = once[i] > limit;
      result_.racers[i].best_ns = std::max(once[i], 1.0);
    }
    // Warm-up counts for nobody who goes on.
    for (Racer& racer : result_.racers)
      if (!racer.given_up) racer.best_ns = kNever;
    return Status::ok();
  }

  Status run_round() {
    const size_t n = entrants_.size();
    for (size_t at = 0; at < n; ++at) {
      const size_t i = (at + static_cast<size_t>(result_.rounds)) % n;
      Racer& racer = result_.racers[i];
      // Rounds of all racers have the same numbers: who left has none any more.
      if (racer.given_up) continue;
      NEREID_RETURN_IF_ERROR(check_interrupted());
      racer.batch_ns.push_back(timed(i, runs_[i]));
      racer.best_ns = std::min(racer.best_ns, racer.batch_ns.back());
    }
    ++result_.rounds;
    return Status::ok();
  }

  size_t leader() const {
    size_t best = 0;
    for (size_t i = 1; i < entrants_.size(); ++i) {
      const Racer& racer = result_.racers[i];
      if (racer.batch_ns.empty()) continue;  // it left in the warm-up
      if (handicapped(entrants_[i], racer) < handicapped(entrants_[best], result_.racers[best])) best = i;
    }
    return best;
  }

  void drop_the_hopeless() {
    const size_t first = leader();
    const Racer& leading = result_.racers[first];
    // On a noisy machine least times take longer to be found.
    const double noise = least(leading.batch_ns, leading.batch_ns.size() / 2) / leading.best_ns - 1;
    const double limit = handicapped(entrants_[first], leading) * (1 + slack_after(result_.rounds) + noise);
    for (size_t i = 0; i < entrants_.size(); ++i) {
      Racer& racer = result_.racers[i];
      const double time = std::min(racer.best_ns, warm_[i]) * (1 + entrants_[i].handicap);
      // The default is what others are compared with: it stays until that is settled.
      const int enough = time > 1.5 * limit ? rules_.rounds_least : 2 * rules_.rounds_least;
      if (i == 0 && result_.rounds < enough) continue;
      racer.given_up = racer.given_up || time > limit;
    }
  }

  void decide() {
    const size_t first = leader();
    if (entrants_.size() == 1) {
      result_.reason = "there is one way";
      return;
    }
    if (first == 0) {
      result_.reason = fmt::format("nothing was faster than the rule's over {} rounds", result_.rounds);
      return;
    }
    const Racer &was = result_.racers[0], &now = result_.racers[first];
    // What the default's least may still be too high by.
    const double doubt = least(was.batch_ns, 1) / was.best_ns - 1;
    const double gain = 1 - handicapped(entrants_[first], now) / handicapped(entrants_[0], was);
    const double needed = rules_.margin + doubt;
    const size_t some = std::max<size_t>(1, now.batch_ns.size() / 4 - (now.batch_ns.size() >= 8 ? 1 : 0));
    const double quarter = least(now.batch_ns, some) * (1 + entrants_[first].handicap);
    if (gain < needed) {
      result_.reason = fmt::format("the best gain, {:.1f} %, is within the noise ({:.1f} %)", 100 * gain, 100 * needed);
    } else if (quarter > handicapped(entrants_[0], was) * (1 - rules_.margin / 2)) {
      result_.reason = fmt::format("a gain of {:.1f} % was seen too seldom to be believed", 100 * gain);
    } else {
      result_.winner = first;
      result_.reason = fmt::format("{:.1f} % faster than the rule's over {} rounds",
                                   100 * (1 - now.best_ns / was.best_ns), was.batch_ns.size());
    }
  }

  std::span<const Entrant> entrants_;
  const Clock& clock_;
  const RaceRules& rules_;
  std::vector<int64_t> runs_;  // of a batch
  std::vector<double> warm_;   // of one run, in the warm-up
  RaceResult result_;
};

}  // namespace

Result<RaceResult> race(std::span<const Entrant> entrants, const Clock& clock, const RaceRules& rules) {
  return Race(entrants, clock, rules).run();
}

}  // namespace nereid::tune
