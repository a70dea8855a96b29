// SPDX-License-Identifier: Apache-2.0
#include "tune/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "tune/workload.h"

namespace nereid::tune {
namespace {

struct Open {
  size_t index;  // of the task
  kernels::Problem problem;
  kernels::Tactic rule;
  double weight;  // flops of all its layers
};

ProblemChoice by_rule(const Task& task, int level, std::string reason) {
  return {.problem = task.problem,
          .rule = task.rule,
          .chosen = task.rule,
          .timed = {},
          .reason = std::move(reason),
          .level = level,
          .from_cache = false};
}

ProblemChoice from_race(const Task& task, int level, const std::vector<Candidate>& candidates, RaceResult result) {
  ProblemChoice choice = by_rule(task, level, std::move(result.reason));
  choice.chosen = candidates[result.winner].tactic.text();
  for (size_t i = 0; i < candidates.size(); ++i)
    if (std::isfinite(result.racers[i].best_ns))
      choice.timed.push_back({.tactic = candidates[i].tactic.text(),
                              .us = result.racers[i].best_ns / 1e3,
                              .given_up = result.racers[i].given_up});
  std::ranges::stable_sort(choice.timed, {}, &TimedTactic::us);
  return choice;
}

}  // namespace

Result<std::vector<ProblemChoice>> choose(const TuneRequest& request, const RaceProblem& race, const Clock& clock,
                                          TimingCache& cache) {
  const Level& level = kLevels[std::clamp(request.level, 0, kMostLevel)];
  std::vector<ProblemChoice> answers(request.tasks.size());
  std::vector<Open> open;
  for (size_t i = 0; i < request.tasks.size(); ++i) {
    const Task& task = request.tasks[i];
    if (const ProblemChoice* known = cache.find(request.device, task.problem, request.level)) {
      answers[i] = *known;
      answers[i].rule = task.rule;
      answers[i].from_cache = true;
      continue;
    }
    NEREID_TRY(const kernels::Problem problem, kernels::parse_problem(task.problem));
    NEREID_TRY(const kernels::Tactic rule, kernels::parse_tactic(task.rule));
    if (request.level <= 0) {
      answers[i] = by_rule(task, 0, "level 0 asks the rules alone");
      continue;
    }
    open.push_back({i, problem, rule, problem_flops(problem) * static_cast<double>(task.count)});
  }
  std::ranges::stable_sort(open, std::greater<>(), &Open::weight);
  double left =
      std::accumulate(open.begin(), open.end(), 0.0, [](double sum, const Open& o) { return sum + o.weight; });
  const int64_t deadline_ns = clock.now_ns() + level.total_ns;
  int64_t done = static_cast<int64_t>(request.tasks.size() - open.size());
  for (const Open& o : open) {
    const Task& task = request.tasks[o.index];
    if (request.stop && request.stop()) return cancelled("stopped while choosing kernels");
    if (request.progress) request.progress(done++, static_cast<int64_t>(request.tasks.size()));
    const int64_t time_ns = deadline_ns - clock.now_ns();
    // Twice its share of what is left: most problems are settled sooner.
    const double share = left > 0 ? std::min(1.0, 2 * o.weight / left) : 1;
    left -= o.weight;
    if (time_ns <= 0) {
      answers[o.index] = by_rule(task, request.level, fmt::format("the time of level {} was used up", request.level));
    } else {
      const std::vector<Candidate> list =
          candidates({.problem = o.problem, .rule = o.rule, .workers = request.device.threads}, level);
      const RaceRules rules{
          .budget_ns =
              std::min(level.problem_ns,
                       std::max<int64_t>(static_cast<int64_t>(share * static_cast<double>(time_ns)), 10'000'000)),
          .rounds_most = level.rounds_most,
          .margin = level.margin};
      if (list.size() == 1) {
        answers[o.index] = by_rule(task, request.level, "there is one way");
      } else {
        Result<RaceResult> result = race(o.problem, list, rules);
        if (result.is_ok())
          answers[o.index] = from_race(task, request.level, list, std::move(*result));
        else if (result.status().code() == StatusCode::kExhausted)
          answers[o.index] = by_rule(task, request.level, result.status().message());
        else
          return result.status();
      }
    }
    cache.add(request.device, answers[o.index]);
  }
  if (request.progress && !open.empty()) request.progress(done, static_cast<int64_t>(request.tasks.size()));
  return answers;
}

RaceProblem race_on(const kernels::IsaKernels& kernels, ThreadPool& pool, int64_t cold_bytes, const Clock& clock) {
  auto weights = std::make_shared<Buffer>();
  return [&kernels, &pool, cold_bytes, &clock, weights](const kernels::Problem& problem,
                                                        const std::vector<Candidate>& list,
                                                        const RaceRules& rules) -> Result<RaceResult> {
    NEREID_TRY(const std::unique_ptr<Workload> work,
               Workload::create(problem, kernels, pool, {.cold_bytes = cold_bytes, .weights = weights}));
    std::vector<Entrant> entrants;
    entrants.reserve(list.size());
    for (const Candidate& c : list) {
      NEREID_RETURN_IF_ERROR(work->prepare(c.tactic));
      entrants.push_back({.run = [&work, &c](int64_t times) { work->run(c.tactic, times); },
                          .handicap = c.handicap,
                          .variant_of = c.variant_of});
    }
    return race(entrants, clock, rules);
  };
}

}  // namespace nereid::tune
