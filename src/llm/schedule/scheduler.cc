// SPDX-License-Identifier: Apache-2.0
#include "llm/schedule/scheduler.h"

#include <algorithm>
#include <tuple>

#include "llm/schedule/scheduler_impl.h"

namespace nereid::schedule {
namespace {

// An answer's token reads the whole model for itself where a prompt's shares it.
constexpr int64_t kAnswerTokenCost = 2;

}  // namespace

std::string_view end_reason_name(EndReason reason) {
  switch (reason) {
    case EndReason::kDone:
      return "done";
    case EndReason::kCancelled:
      return "cancelled";
    case EndReason::kTimeout:
      return "timeout";
  }
  return "";
}

Scheduler::Scheduler() = default;
Scheduler::~Scheduler() = default;

Result<std::unique_ptr<Scheduler>> Scheduler::make(const SchedulerOptions& o, const kv::CacheOptions& cache) {
  constexpr int64_t kMost = 1 << 28;
  for (auto [name, value, most] : {std::tuple{"step_tokens", int64_t{o.step_tokens}, kMost},
                                   {"prompt_tokens_beside", o.prompt_tokens_beside, kMost},
                                   {"max_queue", o.max_queue, kMost},
                                   {"level_us", o.level_us, 1'000'000'000}})
    if (value < 1 || value > most)
      return invalid_argument("the scheduler's {} is {} and should be between 1 and {}", name, value, most);
  NEREID_TRY(auto pages, kv::Cache::make(cache));
  if (o.step_tokens < cache.sequences)
    return invalid_argument("a step of {} tokens is too short for {} sequences, each of which needs one", o.step_tokens,
                            cache.sequences);
  std::unique_ptr<Scheduler> s(new Scheduler);
  s->impl_ = std::make_unique<Impl>(o, std::move(pages));
  return s;
}

Status Scheduler::add(NewRequest r, int64_t now_us) {
  Impl& s = *impl_;
  const auto refuse = [&](Status status) {
    ++s.totals.refused;
    return status;
  };
  if (s.is_draining) return refuse(unavailable("no new requests are taken: the server is shutting down"));
  if (r.prompt.empty()) return refuse(invalid_argument("the prompt is empty; it should hold at least one token"));
  if (r.max_tokens < 1) return refuse(invalid_argument("max_tokens is {} and should be at least 1", r.max_tokens));
  if (r.choices < 1 || r.choices > s.rows())
    return refuse(
        invalid_argument("{} choices were asked for; between 1 and {} can run at one time", r.choices, s.rows()));
  if (r.shift_at != 0 && (r.shift_at < static_cast<int32_t>(r.prompt.size()) || r.shift_at < 4 || r.beams))
    return refuse(
        invalid_argument("a context of {} tokens cannot shift: it needs 4 and room for the prompt's {}, and no beams",
                         r.shift_at, r.prompt.size()));
  if (s.entries.contains(r.id.v)) return refuse(invalid_argument("request {} is running already", r.id.v));
  auto e = std::make_unique<Entry>();
  e->live = r.choices;
  e->counts.prompt_tokens = static_cast<int32_t>(r.prompt.size());
  const int64_t all = static_cast<int64_t>(r.prompt.size()) + r.max_tokens;
  auto b = std::make_unique<Branch>();
  b->entry = e.get();
  b->tokens = std::move(r.prompt);
  e->request = std::move(r);
  const bool is_whole = s.options.policy == Policy::kGuaranteedNoEvict;
  // Choices may go on one after the other where they have to, beams may not.
  const int32_t pages = s.pages_to_the_end(*e, is_whole || e->request.beams ? e->live : 1);
  if (pages > s.cache->options().pages)
    return refuse(invalid_argument(
        "{} tokens of prompt and answer ({} choices) need {} pages of the key/value cache, which has {}; ask for less",
        all, e->request.choices, pages, s.cache->options().pages));
  const int32_t places = s.options.max_queue + std::max(0, s.rows() - s.rows_taken);
  if (s.waiting_requests() >= places)
    return refuse(exhausted("{} requests are waiting already, which is all that the queue holds; try again later",
                            s.waiting_requests()));
  e->arrival_us = now_us;
  e->order = s.next_order++;
  e->user = s.shares.join(e->request.user);
  if (const int64_t at = e->request.expires_us; at > 0 && (s.next_expiry_us == 0 || at < s.next_expiry_us))
    s.next_expiry_us = at;
  s.wait(*b);
  e->branches.push_back(std::move(b));
  s.entries.emplace(e->request.id.v, std::move(e));
  return Status::ok();
}

void Scheduler::cancel(RequestId id) {
  const auto it = impl_->entries.find(id.v);
  if (it == impl_->entries.end() || std::exchange(it->second->is_cancelled, true)) return;
  impl_->cancelled.push_back(id.v);
}

void Scheduler::cancel_all() {
  std::vector<const Entry*> all;
  for (const auto& [id, e] : impl_->entries) all.push_back(e.get());
  std::ranges::sort(all, {}, &Entry::order);
  for (const Entry* e : all) cancel(e->request.id);
}

void Scheduler::drain() {
  impl_->is_draining = true;
}

Waiting Scheduler::Impl::place_of(Branch& b) const {
  const NewRequest& r = b.entry->request;
  return {.branch = &b,
          .arrival_us = b.entry->arrival_us,
          .deadline_us = r.deadline_us ? r.deadline_us : INT64_MAX,
          .order = b.entry->order,
          .priority = r.priority,
          .user = b.entry->user,
          .choice = b.choice};
}

void Scheduler::Impl::wait(Branch& b) {
  waiting.push_back(place_of(b));
}

void Scheduler::Impl::start(Branch& b) {
  std::erase_if(waiting, [&](const Waiting& w) { return w.branch == &b; });
  // Seniority: a level of priority is worth so much earlier an arrival.
  const auto since = [&](const Branch* x) {
    return x->entry->arrival_us - x->entry->request.priority * options.level_us;
  };
  const auto before = [&](const Branch* x, const Branch* y) {
    return std::tuple(since(x), x->entry->order, x->choice) < std::tuple(since(y), y->entry->order, y->choice);
  };
  running.insert(std::upper_bound(running.begin(), running.end(), &b, before), &b);
  b.is_running = true;
  rows_taken += rows_of(b);
  if (b.entry->running++ == 0) ++running_requests;
  b.entry->has_started = true;
  step.started.push_back(b.entry->request.id);
}

void Scheduler::Impl::leave(Branch& b) {
  std::erase(running, &b);
  b.is_running = false;
  rows_taken -= rows_of(b);
  if (--b.entry->running == 0) --running_requests;
}

void Scheduler::Impl::stop(Branch& b) {
  leave(b);
  cache->close(b.sequence);
  b.sequence = {};
}

void Scheduler::Impl::pause(Branch& b) {
  NEREID_CHECK(!b.is_planned);
  if (b.entry->request.beams) {
    pause_beams(*b.entry);
  } else {
    stop(b);
    b.tokens.resize(static_cast<size_t>(b.known()));
    b.drafts = 0;
    wait(b);
  }
  ++b.entry->counts.pauses;
  ++totals.pauses;
  step.paused.push_back(b.entry->request.id);
}

void Scheduler::Impl::run(Branch& b, int32_t tokens, bool is_prompt, int32_t outputs) {
  const int32_t from = cache->length(b.sequence) - tokens;
  step.runs.push_back(
      {.request = b.entry->request.id,
       .choice = b.choice,
       .sequence = b.sequence,
       .position = from,
       .tokens = std::span<const int32_t>(b.tokens).subspan(static_cast<size_t>(from), static_cast<size_t>(tokens)),
       .drafts = b.drafts,
       .outputs = outputs,
       .is_prompt = is_prompt});
  planned.push_back(&b);
  b.is_planned = true;
  budget -= tokens;
  step.tokens += tokens;
  step.outputs += outputs;
  if (is_prompt) totals.prompt_tokens += tokens;
  shares.charge(b.entry->user, is_prompt ? tokens : tokens * kAnswerTokenCost);
}

const Step& Scheduler::plan(int64_t now_us) {
  Impl& s = *impl_;
  NEREID_CHECK(!s.is_in_step);
  s.step.ended.clear();
  s.step.moves.clear();
  s.step.runs.clear();
  s.step.started.clear();
  s.step.paused.clear();
  s.planned.clear();
  s.step.tokens = s.step.outputs = 0;
  s.now_us = now_us;
  s.budget = s.options.step_tokens;
  s.cache->set_time(now_us);

  s.expire();
  s.decode();
  s.prefill();

  s.step.moves = s.cache->moves();
  s.cache->clear_moves();
  for (Run& run : s.step.runs) run.table_from = s.cache->take_change(run.sequence);
  s.is_in_step = !s.step.runs.empty();
  s.totals.steps += s.is_in_step;
  return s.step;
}

void Scheduler::undo() {
  Impl& s = *impl_;
  NEREID_CHECK(s.is_in_step);
  s.is_in_step = false;
  for (size_t i = 0; i < s.step.runs.size(); ++i) {
    s.planned[i]->is_planned = false;
    NEREID_CHECK(s.cache->truncate(s.step.runs[i].sequence, s.step.runs[i].position).is_ok());
  }
}

bool Scheduler::has_work() const {
  return !impl_->entries.empty();
}

int64_t Scheduler::longest_sequence() const {
  const kv::CacheOptions& o = impl_->cache->options();
  const int64_t all = static_cast<int64_t>(o.pages) * o.page_tokens;
  // With a window a sequence may be as long as it likes, if its window finds room.
  const bool has_room = impl_->cache->pages_of_length(INT32_MAX, impl_->options.step_tokens) <= o.pages;
  return o.window > 0 && has_room ? INT32_MAX : all;
}

Result<RequestCounts> Scheduler::request(RequestId id) const {
  const auto it = impl_->entries.find(id.v);
  if (it == impl_->entries.end()) return not_found("request {} is unknown or has ended", id.v);
  return it->second->counts;
}

SchedulerCounts Scheduler::counts() const {
  SchedulerCounts n = impl_->totals;
  n.waiting = impl_->waiting_requests();
  n.running = impl_->running_requests;
  return n;
}

const kv::Cache& Scheduler::cache() const {
  return *impl_->cache;
}

kv::Cache& Scheduler::cache() {
  return *impl_->cache;
}

}  // namespace nereid::schedule
