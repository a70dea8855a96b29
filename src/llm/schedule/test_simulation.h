// SPDX-License-Identifier: Apache-2.0
// For tests: carries out a scheduler's steps as an executor does, on a device whose cache entries say what they were
// computed from and under a clock that only steps move. What a request answers is known beforehand, so that a wrong
// page, a wrong position or a token lost shows in the answer.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "llm/kv/test_device.h"
#include "llm/schedule/context_shift.h"
#include "llm/schedule/scheduler.h"
#include "llm/schedule/trace.h"

namespace nereid::schedule {

// What the model of these tests says after an entry; the choice stands for the seed.
inline int32_t next_token(uint64_t entry, int32_t choice, int32_t vocab = 50) {
  return static_cast<int32_t>(kv::entry_of(entry, choice + 1000) % static_cast<uint64_t>(vocab));
}

inline std::vector<int32_t> answer_alone(const NewRequest& r, int32_t choice) {
  std::vector<int32_t> tokens = r.prompt, answer;
  const auto entry = [&] {
    uint64_t x = kv::entry_of_key(r.key);
    for (int32_t t : tokens) x = kv::entry_of(x, t);
    return x;
  };
  for (uint64_t x = entry(); static_cast<int32_t>(answer.size()) < r.max_tokens;) {
    answer.push_back(next_token(x, choice));
    tokens.push_back(answer.back());
    x = kv::entry_of(x, answer.back());
    if (r.shift_at == 0 || static_cast<int32_t>(tokens.size()) <= r.shift_at) continue;
    shift_context(&tokens, r.shift_keep);
    x = entry();
  }
  return answer;
}

// A search that looks at all of its beams: who goes on from whom by what, sometimes fewer than there may be.
struct TestBeam {
  size_t parent = 0;
  int32_t token = 0;
};
inline std::vector<TestBeam> next_beams(const std::vector<uint64_t>& entries, int32_t width) {
  uint64_t all = 1;
  for (uint64_t x : entries) all = kv::entry_of(all ^ x, 5);
  const auto count = all % 4 ? static_cast<size_t>(width) : 1 + (all >> 8) % static_cast<size_t>(width);
  std::vector<TestBeam> beams(count);
  for (size_t i = 0; i < count; ++i) {
    beams[i].parent = (all >> (4 * i + 16)) % entries.size();
    beams[i].token = next_token(entries[beams[i].parent], static_cast<int32_t>(i));
  }
  return beams;
}

inline std::vector<std::vector<int32_t>> beams_alone(const NewRequest& r) {
  uint64_t x = kv::entry_of_key(r.key);
  for (int32_t t : r.prompt) x = kv::entry_of(x, t);
  std::vector<uint64_t> entries = {x};
  std::vector<std::vector<int32_t>> answers(1);
  for (int32_t i = 0; i < r.max_tokens; ++i) {
    std::vector<uint64_t> then;
    std::vector<std::vector<int32_t>> longer;
    for (const TestBeam& b : next_beams(entries, r.choices)) {
      longer.push_back(answers[b.parent]);
      longer.back().push_back(b.token);
      then.push_back(kv::entry_of(entries[b.parent], b.token));
    }
    entries = std::move(then);
    answers = std::move(longer);
  }
  return answers;
}

class Simulation {
 public:
  struct Answer {
    std::vector<int32_t> tokens;
    std::vector<int64_t> times_us;  // when each token came
    bool has_ended = false;
    EndReason reason = EndReason::kDone;
    int64_t end_us = 0;
  };
  struct Life {
    NewRequest request;
    int64_t arrival_us = 0, end_us = 0;
    int32_t left = 0;  // choices that have not ended
    std::vector<Answer> answers;
    int64_t first_token_us() const { return answers[0].times_us.empty() ? -1 : answers[0].times_us[0] - arrival_us; }
  };

  Simulation(const SchedulerOptions& options, const kv::CacheOptions& cache)
      : options_(options),
        scheduler_(*Scheduler::make(options, cache)),
        device_(cache),
        tables_(static_cast<size_t>(cache.sequences)) {}

  Scheduler& scheduler() { return *scheduler_; }
  int64_t now_us = 0;
  // What a step takes, each of its tokens, and each of a prompt's above that.
  int64_t step_us = 1000, token_us = 100, prompt_token_us = 0;
  int drafts = 0;  // proposed after each token; every other one is right
  std::map<uint64_t, Life> lives;
  std::vector<Step> steps;  // kept when wanted; their spans are stale
  bool keep_steps = false;
  TraceWriter* trace = nullptr;
  std::string wrong;  // the first thing that was

  Status add(NewRequest r) {
    NewRequest copy = r;
    const Status s = scheduler_->add(std::move(copy), now_us);
    if (!s.is_ok()) return s;
    Life life;
    life.request = std::move(r);
    life.arrival_us = now_us;
    life.left = life.request.choices;
    life.answers.resize(static_cast<size_t>(life.request.choices));
    const uint64_t id = life.request.id.v;
    lives[id] = std::move(life);
    return s;
  }

  // One round; false: there was nothing to run.
  bool step() {
    const Step& s = scheduler_->plan(now_us);
    if (keep_steps) steps.push_back(s);
    for (const Ended& e : s.ended) end(e.request, e.choice, e.reason);
    device_.carry_out(s.moves);
    if (s.runs.empty()) {
      if (trace) trace->stepped(s, *scheduler_, now_us, now_us);
      return false;
    }
    const int64_t from_us = now_us;
    check_budget(s);
    std::vector<std::vector<int32_t>> drawn, drafted;
    for (const Run& r : s.runs) run(r, &drawn, &drafted);
    now_us += step_us + token_us * s.tokens;
    for (const Run& r : s.runs)
      if (r.is_prompt) now_us += prompt_token_us * static_cast<int64_t>(r.tokens.size());
    tell(s, drawn, drafted);
    if (trace) trace->stepped(s, *scheduler_, from_us, now_us);
    return true;
  }
  // A step that fails after its pages have been moved.
  void step_and_undo() {
    const Step& s = scheduler_->plan(now_us);
    for (const Ended& e : s.ended) end(e.request, e.choice, e.reason);
    device_.carry_out(s.moves);
    for (const Run& r : s.runs) lay_out(r);
    if (!s.runs.empty()) scheduler_->undo();
  }
  // Until nothing is left; false: it did not come to an end.
  bool run_all(int most_steps = 100000) {
    while (scheduler_->has_work()) {
      if (!step()) now_us += 1000;
      if (--most_steps == 0 || !wrong.empty()) return false;
    }
    return true;
  }

  int32_t pages_in_use() const { return scheduler_->cache().counts().used; }

 private:
  void fail(std::string what) {
    if (wrong.empty()) wrong = std::move(what);
  }

  void end(RequestId id, int32_t choice, EndReason reason) {
    const auto it = lives.find(id.v);
    if (it == lives.end()) return fail("an unknown request has ended");
    Answer& a = it->second.answers[static_cast<size_t>(choice)];
    if (std::exchange(a.has_ended, true)) fail("a choice has ended twice");
    a.reason = reason;
    a.end_us = now_us;
    if (--it->second.left == 0) it->second.end_us = now_us;
  }

  void check_budget(const Step& s) {
    int32_t tokens = 0, prompt = 0, outputs = 0;
    bool has_answers = false;
    std::set<int32_t> rows;
    for (const Run& r : s.runs) {
      tokens += static_cast<int32_t>(r.tokens.size());
      outputs += r.outputs;
      if (r.is_prompt)
        prompt += static_cast<int32_t>(r.tokens.size());
      else
        has_answers = true;
      if (!rows.insert(r.sequence.v).second) fail("a sequence runs twice in a step");
    }
    if (tokens != s.tokens || outputs != s.outputs) fail("a step does not add up");
    if (tokens > options_.step_tokens) fail("a step is over its budget");
    if (has_answers && prompt > options_.prompt_tokens_beside) fail("prompts take more than their part");
  }

  std::span<const int32_t> lay_out(const Run& r) {
    std::vector<int32_t>& table = tables_[static_cast<size_t>(r.sequence.v)];
    const std::span<const int32_t> now = scheduler_->cache().table(r.sequence);
    table.resize(now.size(), -2);
    for (size_t i = static_cast<size_t>(r.table_from); i < now.size(); ++i) table[i] = now[i];
    if (!std::ranges::equal(table, now)) fail("a change of a table was not told");
    return table;
  }

  void run(const Run& r, std::vector<std::vector<int32_t>>* drawn, std::vector<std::vector<int32_t>>* drafted) {
    const Life& life = lives.at(r.request.v);
    const std::span<const int32_t> table = lay_out(r);
    std::vector<uint64_t> after;
    for (size_t i = 0; i < r.tokens.size(); ++i) {
      const int32_t p = r.position + static_cast<int32_t>(i);
      const uint64_t before = p == 0 ? kv::entry_of_key(life.request.key) : device_.entry(table, p - 1);
      after.push_back(device_.entry(table, p) = kv::entry_of(before, r.tokens[i]));
    }
    if (life.request.beams) {
      if (r.outputs > 0) beam_entries_[r.request.v].push_back(after.back());
      return;
    }
    for (int32_t k = 0; k < r.outputs; ++k) {
      std::vector<int32_t> tokens;
      const size_t first = r.tokens.size() - 1 - static_cast<size_t>(r.drafts);
      for (size_t i = first;; ++i) {
        tokens.push_back(next_token(after[i], r.choice + k));
        if (i + 1 == r.tokens.size() || r.tokens[i + 1] != tokens.back()) break;
      }
      // What would come, with a mistake now and then.
      std::vector<int32_t> guess;
      uint64_t x = after[first + tokens.size() - 1];
      for (int32_t d = 0, t = tokens.back(); d < drafts; ++d) {
        x = kv::entry_of(x, t);
        t = next_token(x, r.choice + k);
        guess.push_back(x % 2 ? t : t + 1);
      }
      drawn->push_back(std::move(tokens));
      drafted->push_back(std::move(guess));
    }
  }

  void tell(const Step& s, const std::vector<std::vector<int32_t>>& drawn,
            const std::vector<std::vector<int32_t>>& drafted) {
    std::vector<Outcome> outcomes;
    struct End {
      RequestId id;
      int32_t choice;
    };
    std::vector<End> ends;
    std::vector<std::vector<TestBeam>> searches;  // keeps the tokens that outcomes refer to
    searches.reserve(s.runs.size());
    size_t i = 0;
    for (const Run& r : s.runs) {
      Life& life = lives.at(r.request.v);
      if (life.request.beams) {
        // All outcomes of a search where its first beam stands.
        if (r.outputs == 0 || r.choice != 0) continue;
        searches.push_back(next_beams(beam_entries_[r.request.v], life.request.choices));
        tell_beams(life, searches.back(), &outcomes);
        if (static_cast<int32_t>(life.answers[0].tokens.size()) == life.request.max_tokens)
          for (int32_t k = 0; k < life.request.choices; ++k) ends.push_back({r.request, k});
        continue;
      }
      for (int32_t k = 0; k < r.outputs; ++k) {
        Answer& a = life.answers[static_cast<size_t>(r.choice + k)];
        if (a.has_ended) fail("a choice goes on after its end");
        for (int32_t t : drawn[i]) {
          a.tokens.push_back(t);
          a.times_us.push_back(now_us);
        }
        const auto have = static_cast<int32_t>(a.tokens.size());
        if (have > life.request.max_tokens) fail("an answer is longer than it may be");
        outcomes.push_back({.tokens = drawn[i], .is_last = false, .drafts = drafted[i]});
        ++i;
        if (have == life.request.max_tokens) ends.push_back({r.request, r.choice + k});
      }
    }
    beam_entries_.clear();
    scheduler_->done(now_us, outcomes);
    for (const End& e : ends) {
      end(e.id, e.choice, EndReason::kDone);
      const Life& life = lives.at(e.id.v);
      if (life.answers[static_cast<size_t>(e.choice)].tokens != alone(life.request, e.choice))
        fail("request " + std::to_string(e.id.v) + " answers other than alone");
    }
  }

  static std::vector<int32_t> alone(const NewRequest& r, int32_t choice) {
    if (!r.beams) return answer_alone(r, choice);
    std::vector<std::vector<int32_t>> beams = beams_alone(r);
    beams.resize(static_cast<size_t>(r.choices));
    return beams[static_cast<size_t>(choice)];
  }

  void tell_beams(Life& life, const std::vector<TestBeam>& beams, std::vector<Outcome>* outcomes) {
    std::vector<Answer> longer(life.answers.size());
    for (size_t k = 0; k < longer.size(); ++k) {
      if (k >= beams.size()) {
        outcomes->push_back({});
        continue;
      }
      longer[k] = life.answers[beams[k].parent];
      longer[k].tokens.push_back(beams[k].token);
      longer[k].times_us.push_back(now_us);
      outcomes->push_back({.tokens = {&beams[k].token, 1},
                           .is_last = false,
                           .drafts = {},
                           .parent = static_cast<int32_t>(beams[k].parent)});
    }
    life.answers = std::move(longer);
  }

  SchedulerOptions options_;
  std::unique_ptr<Scheduler> scheduler_;
  kv::TestDevice device_;
  std::vector<std::vector<int32_t>> tables_;                // as the model has them
  std::map<uint64_t, std::vector<uint64_t>> beam_entries_;  // of the step at hand
};

}  // namespace nereid::schedule
