// SPDX-License-Identifier: Apache-2.0
#include "llm/run/step_loop.h"

#include <algorithm>
#include <atomic>
#include <tuple>

#include "base/clock.h"
#include "base/cpu_limits.h"
#include "llm/sample/draft.h"

namespace nereid::llm {
namespace {

int64_t now_us() {
  return now_ns() / 1000;
}

Status check(const LanguageModel& model, const ExecutorOptions& o) {
  for (auto [name, value, least] : {std::tuple{"max_sequences", o.max_sequences, 1},
                                    {"step_tokens", o.step_tokens, 1},
                                    {"prompt_tokens_beside", o.prompt_tokens_beside, 1},
                                    {"max_queue", o.max_queue, 0},
                                    {"max_adapters", o.max_adapters, 0}})
    if (value < least || value > INT32_MAX / 2)
      return invalid_argument("{} is {} and should be between {} and {}", name, value, least, INT32_MAX / 2);
  if (model.max_sequences() < o.max_sequences || model.step_tokens() < o.step_tokens)
    return invalid_argument(
        "the model was loaded for {} sequences and steps of {} tokens, but {} and {} were asked for; load it as "
        "load_options() says",
        model.max_sequences(), model.step_tokens(), o.max_sequences, o.step_tokens);
  return Status::ok();
}

// None where nothing is found again.
int32_t host_pages(const LanguageModel& model, const ExecutorOptions& o) {
  const int64_t pages = o.reuse_prefixes ? o.host_memory_bytes / std::max<int64_t>(model.page_bytes(), 1) : 0;
  return static_cast<int32_t>(std::clamp<int64_t>(pages, 0, INT32_MAX / 2));
}

}  // namespace

LoadOptions load_options(const ExecutorOptions& options) {
  constexpr int64_t kRows = 64;  // of logits a step: more are run in pieces
  return {.max_sequences = options.max_sequences,
          .step_tokens = options.step_tokens,
          .max_outputs = std::clamp<int64_t>(options.max_sequences, kRows, std::max(kRows, options.step_tokens)),
          .cache_tokens = options.cache_tokens > 0 ? options.cache_tokens : kCacheByMemory,
          .page_tokens = options.page_tokens};
}

Result<std::unique_ptr<StepLoop>> StepLoop::make(LanguageModel& model, const ExecutorOptions& options) {
  NEREID_RETURN_IF_ERROR(check(model, options));
  const schedule::SchedulerOptions scheduling{
      .step_tokens = static_cast<int32_t>(options.step_tokens),
      .prompt_tokens_beside = static_cast<int32_t>(options.prompt_tokens_beside),
      // The executor counts what waits before anything gets here.
      .max_queue = static_cast<int32_t>(options.max_queue + options.max_sequences),
      .policy = options.policy == SchedulePolicy::kGuaranteedNoEvict ? schedule::Policy::kGuaranteedNoEvict
                                                                     : schedule::Policy::kMaxUtilization};
  const kv::CacheOptions cache{.pages = static_cast<int32_t>(model.pages()),
                               .page_tokens = static_cast<int32_t>(model.page_tokens()),
                               .sequences = static_cast<int32_t>(options.max_sequences),
                               .host_pages = host_pages(model, options),
                               .reuse = options.reuse_prefixes};
  NEREID_TRY(std::unique_ptr<schedule::Scheduler> scheduler, schedule::Scheduler::make(scheduling, cache));
  std::unique_ptr<StepLoop> loop(new StepLoop(model, std::move(scheduler)));
  if (cache.host_pages > 0) {
    NEREID_TRY(loop->host_, HostPages::make(options.host_folder, cache.host_pages, model.page_bytes()));
    loop->page_.resize(static_cast<size_t>(model.page_bytes()));
  }
  if (!options.trace_path.empty()) {
    // A place where nothing can be written is told now, not when all is done.
    NEREID_TRY(AtomicFile file, AtomicFile::create(options.trace_path).with("the trace of the scheduler"));
    loop->trace_file_.emplace(std::move(file));
    loop->trace_ = std::make_unique<schedule::TraceWriter>();
  }
  if (options.draft) {
    loop->draft_tokens_ = std::max(options.draft_tokens, 1);
    NEREID_TRY(loop->draft_, DraftModel::make(*options.draft, model, {.answers = options.draft->max_sequences()}));
  }
  loop->makes_masks_beside_ = model.pool().size() < usable_cpus();
  return loop;
}

ActiveRequest* StepLoop::find(schedule::RequestId id) const {
  const auto it = requests_.find(id.v);
  return it == requests_.end() ? nullptr : it->second.get();
}

void StepLoop::add(std::unique_ptr<ActiveRequest> request) {
  ActiveRequest& r = *request;
  requests_[r.id.v] = std::move(request);
  if (!r.wants_answer() && r.prompt_to_come() == 0) return end_answers(r, FinishReason::kLength, {});
  const auto drawn = static_cast<int32_t>(r.beams ? r.request.params.beam_width : r.answers.size());
  schedule::NewRequest wanted{.id = {r.id.v},
                              .prompt = r.request.prompt,
                              .max_tokens = static_cast<int32_t>(r.wants_answer() ? r.most_tokens : 1),
                              .choices = r.wants_answer() ? drawn : 1,
                              .beams = r.beams && r.wants_answer(),
                              .priority = r.request.priority,
                              .deadline_us = r.expires_us,
                              .expires_us = r.expires_us,
                              .user = r.request.user,
                              .key = r.adapter ? r.adapter->key : std::string(),
                              .reuse_prefix = !r.request.prompt_logprobs,
                              .retention = {}};
  if (r.request.shift_keep >= 0) {
    wanted.shift_at = static_cast<int32_t>(std::min(longest_sequence(), model_.context_tokens()));
    wanted.shift_keep = r.request.shift_keep;
  }
  if (const Status s = scheduler_->add(std::move(wanted), now_us()); !s.is_ok())
    return end_answers(r, FinishReason::kCancelled, s);
  if (trace_) trace_->added({r.id.v}, now_us());
}

void StepLoop::end_answers(ActiveRequest& request, FinishReason reason, const Status& status) {
  if (request.beams && request.open_answers > 0)
    for (Output& output : BeamAnswer::ended(request.request.choices,
                                            static_cast<int64_t>(request.request.prompt.size()), reason, status))
      queue(request, std::move(output));
  for (size_t i = 0; i < request.answers.size(); ++i) {
    if (request.answers[i].has_ended()) continue;
    Output output = status.is_ok() ? request.answers[i].end(reason) : request.answers[i].fail(status);
    output.choice = static_cast<int32_t>(i);
    queue(request, std::move(output));
  }
}

// With what an answer does not know of itself.
void StepLoop::queue(ActiveRequest& request, Output&& output) {
  output.request = request.id.v;
  if (output.is_last) {
    output.reused_tokens = request.reused_tokens;
    if (--request.open_answers == 0) count_end(request, output);
  }
  if (!request.chooses()) return tell_later(request, std::move(output));
  request.kept.push_back(std::move(output));
  if (request.open_answers > 0) return;
  for (Output& best : request.best_answers()) tell_later(request, std::move(best));
}

void StepLoop::tell_later(ActiveRequest& request, Output&& output) {
  if (output.choice == 0 && !request.prompt.empty() && request.prompt_to_come() == 0) {
    output.prompt = std::move(request.prompt);
    request.prompt.clear();
    request.prompt_known = 0;
  }
  queued_.emplace_back(&request, std::move(output));
}

// `last`: of all its answers.
void StepLoop::count_end(const ActiveRequest& request, const Output& last) {
  ended_.push_back(request.id.v);
  ++iteration_.requests_ended;
  if (!last.status.is_ok())
    ++ends_.requests_failed;
  else if (last.finish_reason == FinishReason::kCancelled)
    ++ends_.requests_cancelled;
  else if (last.finish_reason == FinishReason::kTimeout)
    ++ends_.requests_timed_out;
  else
    ++ends_.requests_done;
}

int64_t StepLoop::deliver() {
  for (auto& [request, output] : queued_)
    if (request->on_output) request->on_output(std::move(output));
  queued_.clear();
  for (uint64_t id : ended_) requests_.erase(id);
  forget_retired();
  const auto ended = static_cast<int64_t>(ended_.size());
  ended_.clear();
  return ended;
}

void StepLoop::retire(AdapterPtr adapter) {
  retired_.push_back(std::move(adapter));
  forget_retired();
}

// Who holds one besides is a request: here, or about to come here.
void StepLoop::forget_retired() {
  std::erase_if(retired_, [this](const AdapterPtr& adapter) {
    if (adapter.use_count() > 1) return false;
    scheduler_->cache().forget(adapter->key);
    return true;
  });
}

void StepLoop::take_ended(const schedule::Step& step) {
  for (const schedule::Ended& ended : step.ended) {
    ActiveRequest* request = find(ended.request);
    if (!request || request->open_answers == 0) continue;
    const FinishReason reason = ended.reason == schedule::EndReason::kTimeout ? FinishReason::kTimeout
                                : ended.reason == schedule::EndReason::kDone  ? FinishReason::kLength
                                                                              : FinishReason::kCancelled;
    if (!request->wants_answer() || request->beams) {
      end_answers(*request, reason, {});
      continue;
    }
    Answer& answer = request->answers[static_cast<size_t>(ended.choice)];
    if (answer.has_ended()) continue;
    Output output = answer.end(reason);
    output.choice = ended.choice;
    queue(*request, std::move(output));
  }
}

bool StepLoop::step() {
  const int64_t from_us = now_us();
  const schedule::Step& step = scheduler_->plan(from_us);
  iteration_ = {.iteration = iteration_.iteration, .begin_us = from_us};
  take_ended(step);
  for (schedule::RequestId id : step.started)
    if (ActiveRequest* request = find(id); request && !request->has_started) {
      request->has_started = true;
      if (const auto counts = scheduler_->request(id); counts.is_ok()) request->reused_tokens = counts->reused_tokens;
      iteration_.reused_tokens += request->reused_tokens;
    }
  if (step.runs.empty()) {
    if (trace_) trace_->stepped(step, *scheduler_, from_us, now_us());
    return false;
  }
  drawn_.resize(static_cast<size_t>(step.outputs));
  beams_.clear();
  for (Drawn& drawn : drawn_) {
    drawn.request = nullptr;
    drawn.outputs.clear();
    drawn.tokens.clear();
    drawn.drafts.clear();
  }
  Status status = lay_out(step);
  if (status.is_ok()) status = run(step);
  if (status.is_ok())
    report();
  else
    fail(step, status);
  record(step, from_us);
  return true;
}

void StepLoop::record(const schedule::Step& step, int64_t from_us) {
  IterationStats& i = iteration_;
  ++i.iteration;
  for (const schedule::Run& run : step.runs) {
    const auto tokens = static_cast<int64_t>(run.tokens.size());
    ++(run.is_prompt ? i.prompt_sequences : i.answer_sequences);
    (run.is_prompt ? i.prompt_tokens : i.answer_tokens) += tokens;
    i.draft_tokens += run.drafts;
  }
  for (const Drawn& drawn : drawn_) i.accepted_tokens += std::max<int64_t>(std::ssize(drawn.tokens) - 1, 0);
  i.requests_started = std::ssize(step.started);
  i.requests_paused = std::ssize(step.paused);
  const schedule::SchedulerCounts s = scheduler_->counts();
  const kv::CacheCounts c = scheduler_->cache().counts();
  i.requests_running = s.running;
  i.requests_waiting = s.waiting;
  i.pages = c.pages;
  i.pages_used = c.used;
  i.pages_cached = c.cached;
  const int64_t to_us = now_us();
  i.latency_us = to_us - from_us;
  if (trace_) trace_->stepped(step, *scheduler_, from_us, to_us);
}

Status StepLoop::write_trace() {
  if (!trace_) return Status::ok();
  NEREID_RETURN_IF_ERROR(trace_file_->write(trace_->json()));
  return trace_file_->commit();
}

Status StepLoop::carry_out(const kv::Move& move) {
  if (move.kind == kv::MoveKind::kCopy) {
    model_.copy_page(move.src, move.dst);
    return Status::ok();
  }
  if (!host_) return internal("pages were to be moved to host memory, of which there is none");
  if (move.kind == kv::MoveKind::kOffload) {
    model_.read_page(move.src, page_);
    return host_->write(move.dst, page_);
  }
  NEREID_RETURN_IF_ERROR(host_->read(move.src, page_));
  model_.write_page(move.dst, page_);
  return Status::ok();
}

Status StepLoop::lay_out(const schedule::Step& step) {
  for (const kv::Move& move : step.moves)
    if (Status s = carry_out(move); !s.is_ok()) {
      is_page_lost_ = true;
      return s;
    }
  for (const schedule::Run& run : step.runs) {
    const std::span<const int32_t> table = scheduler_->cache().table(run.sequence);
    NEREID_RETURN_IF_ERROR(
        model_.set_pages(run.sequence.v, run.table_from, table.subspan(static_cast<size_t>(run.table_from))));
  }
  return Status::ok();
}

// Usually one step of the model; more where more rows of logits are wanted than it gives at a time.
Status StepLoop::run(const schedule::Step& step) {
  size_t outcome = 0;
  for (const schedule::Run& run : step.runs) {
    ActiveRequest* request = find(run.request);
    if (!request) return internal("request {} is to be run, but has ended", run.request.v);
    NEREID_RETURN_IF_ERROR(run_tokens(run, *request, outcome));
    if (request->beams && request->wants_answer() && run.outputs > 0) {
      if (beams_.empty() || beams_.back().request != request) beams_.push_back({request, outcome, 0});
      beams_.back().count += static_cast<size_t>(run.outputs);
    }
    outcome += static_cast<size_t>(run.outputs);
  }
  return flush();
}

Status StepLoop::run_tokens(const schedule::Run& run, ActiveRequest& request, size_t outcome) {
  const auto most_rows = static_cast<size_t>(model_.max_outputs());
  const size_t drawn_from =
      run.outputs > 0 ? run.tokens.size() - 1 - static_cast<size_t>(run.drafts) : run.tokens.size();
  for (size_t i = 0; i < run.tokens.size(); ++i) {
    const auto position = static_cast<int64_t>(run.position) + static_cast<int64_t>(i);
    const bool is_known = position < request.prompt_known || position >= static_cast<int64_t>(request.prompt.size());
    const size_t rows = i == drawn_from ? 1 + static_cast<size_t>(run.drafts) : 0;
    if (rows_.size() + rows + (is_known ? 0 : 1) > most_rows) NEREID_RETURN_IF_ERROR(flush());
    const auto row = static_cast<int32_t>(rows_.size());
    if (!is_known) uses_.push_back({.request = &request, .row = row, .position = position});
    if (i == drawn_from)
      uses_.push_back({.request = &request,
                       .row = row,
                       .position = -1,
                       .outcome = outcome,
                       .choice = run.choice,
                       .choices = run.outputs,
                       .drafts = run.tokens.last(static_cast<size_t>(run.drafts))});
    if (!is_known || i >= drawn_from) rows_.push_back(static_cast<int32_t>(tokens_.size()));
    if (request.adapter && adapters_.empty()) adapters_.assign(tokens_.size(), nullptr);
    if (request.adapter || !adapters_.empty())
      adapters_.push_back(request.adapter ? request.adapter->adapter.get() : nullptr);
    tokens_.push_back(run.tokens[i]);
    positions_.push_back(static_cast<int32_t>(position));
    sequences_.push_back(run.sequence.v);
  }
  return Status::ok();
}

// What draws with a grammar from the rows at hand has its mask made while they are computed.
void StepLoop::prepare_masks() {
  if (!makes_masks_beside_ && !model_.can_draw()) return;
  std::vector<Answer*> answers;
  for (const Use& use : uses_) {
    if (use.position >= 0 || use.request->beams || !use.request->wants_answer()) continue;
    for (int32_t i = 0; i < use.choices; ++i) {
      Answer& answer = use.request->answers[static_cast<size_t>(use.choice + i)];
      if (answer.has_grammar()) answers.push_back(&answer);
    }
  }
  mask_maker_.start(std::move(answers), static_cast<size_t>(model_.vocab()));
}

// Tokens are drawn where their logits lie; only the logits of other rows come back.
Status StepLoop::step_on_device(const StepInput& input) {
  NEREID_RETURN_IF_ERROR(model_.start(input));
  prepare_masks();
  mask_maker_.finish();
  draws_.clear();
  for (Use& use : uses_)
    if (use.position < 0 && !use.request->beams && use.request->wants_answer() && use.choices == 1 &&
        use.drafts.empty())
      use.drawn = draws_.add(use.request->answers[static_cast<size_t>(use.choice)], use.row,
                             static_cast<size_t>(model_.vocab()));
  const Status begun = draws_.begin(model_);
  if (begun.is_ok() && meanwhile_) meanwhile_();
  const Status finished = model_.finish();
  if (!begun.is_ok()) return begun;
  NEREID_RETURN_IF_ERROR(finished);
  wanted_rows_.clear();
  const std::span<const int32_t> tokens = draws_.is_empty() ? std::span<const int32_t>() : model_.drawn().tokens;
  for (Use& use : uses_) {
    if (use.drawn >= 0 && tokens[static_cast<size_t>(use.drawn)] < 0) use.drawn = -1;
    if (use.drawn >= 0 || (use.position < 0 && !use.request->wants_answer())) continue;
    for (size_t i = 0; i <= use.drafts.size(); ++i) wanted_rows_.push_back(use.row + static_cast<int32_t>(i));
  }
  return model_.bring_logits(wanted_rows_);
}

Status StepLoop::step_model() {
  const StepInput input{
      .tokens = tokens_, .positions = positions_, .sequences = sequences_, .output_rows = rows_, .adapters = adapters_};
  if (model_.can_draw()) return step_on_device(input);
  prepare_masks();
  const Status status = model_.step(input);
  mask_maker_.finish();
  return status;
}

// Runs what has been gathered, and uses its logits.
Status StepLoop::flush() {
  if (tokens_.empty()) return Status::ok();
  const int64_t before_us = now_us();
  const Status status = step_model();
  iteration_.model_us += now_us() - before_us;
  if (status.is_ok() && uses_.size() == 1) {
    apply(uses_[0]);
  } else if (status.is_ok() && !uses_.empty()) {
    std::atomic<size_t> next{0};
    model_.pool().run([&](Worker&) {
      for (size_t i = next.fetch_add(1); i < uses_.size(); i = next.fetch_add(1)) apply(uses_[i]);
    });
  }
  for (const Use& use : uses_)
    if (use.position >= 0) ++use.request->prompt_known;
  for (std::vector<int32_t>* of_tokens : {&tokens_, &positions_, &sequences_, &rows_}) of_tokens->clear();
  adapters_.clear();
  uses_.clear();
  return status;
}

// Several may be at work at once, each on rows, answers and outcomes of its own.
void StepLoop::apply(const Use& use) {
  ActiveRequest& request = *use.request;
  if (use.position >= 0) return request.take_prompt_logits(use.position, model_.logits(use.row));
  if (request.beams && request.wants_answer())
    return request.beams->gather(static_cast<size_t>(use.choice), model_.logits(use.row));
  for (int32_t i = 0; i < use.choices; ++i) {
    Drawn& drawn = drawn_[use.outcome + static_cast<size_t>(i)];
    drawn.request = &request;
    if (request.wants_answer()) {
      draw(request.answers[static_cast<size_t>(use.choice + i)], use, i + 1 < use.choices, &drawn);
      for (Output& output : drawn.outputs) output.choice = use.choice + i;
    } else {
      drawn.tokens.push_back(0);
    }
  }
}

// A draft is right when it is what would have been drawn anyway; the rows of those behind a wrong one are worthless.
void StepLoop::draw(Answer& answer, const Use& use, bool is_shared, Drawn* drawn) {
  if (use.drawn >= 0) {
    drawn->outputs.push_back(answer.take(draws_.result(model_.drawn(), use.drawn)));
    drawn->tokens.push_back(std::max(answer.last_drawn(), 0));
    if (drawn->outputs.back().is_last) return;
  }
  for (size_t i = 0; use.drawn < 0; ++i) {
    const std::span<float> logits = model_.logits(use.row + static_cast<int64_t>(i));
    std::vector<float> copy;  // drawing changes them, and the choices that follow draw from them, too
    if (is_shared) copy.assign(logits.begin(), logits.end());
    drawn->outputs.push_back(answer.draw(is_shared ? std::span<float>(copy) : logits));
    drawn->tokens.push_back(std::max(answer.last_drawn(), 0));
    if (drawn->outputs.back().is_last) return;
    if (i == use.drafts.size() || drawn->tokens.back() != use.drafts[i]) break;
  }
  const sample::SamplingParams& params = answer.params();
  const int64_t most = std::min<int64_t>(params.draft_tokens, model_.max_outputs() - 1);
  if (most > 0 && !draft_)
    sample::look_up_draft(answer.history(), {.tokens = static_cast<int32_t>(most), .ngram = params.draft_ngram},
                          &drawn->drafts);
}

// An outcome without tokens is none: a search that is over has only such.
void StepLoop::take_beams(const Beams& beams) {
  ActiveRequest& request = *beams.request;
  const Result<std::span<const sample::BeamStep>> steps = request.beams->advance();
  if (!steps.is_ok()) return end_answers(request, FinishReason::kCancelled, steps.status());
  if (steps->empty())
    for (Output& output : request.beams->results(request.request.choices)) queue(request, std::move(output));
  for (size_t i = 0; i < std::min(steps->size(), beams.count); ++i) {
    drawn_[beams.outcome + i].tokens.assign(1, (*steps)[i].token);
    drawn_[beams.outcome + i].parent = (*steps)[i].parent;
  }
}

// Asks the draft about all answers that go on, unless they are so many that a step's rows cost more than they bring.
void StepLoop::guess() {
  constexpr size_t kMostGuessed = 8;
  if (!draft_) return;
  std::vector<DraftAsk> asks;
  std::vector<std::vector<int32_t>*> guesses;
  for (Drawn& drawn : drawn_) {
    if (!drawn.request || drawn.request->beams || drawn.outputs.empty() || drawn.outputs.back().is_last) continue;
    const int32_t choice = drawn.outputs.back().choice;
    const Answer& answer = drawn.request->answers[static_cast<size_t>(choice)];
    const int64_t wanted = std::max(answer.params().draft_tokens, draft_tokens_);
    asks.push_back({.answer = (drawn.request->id.v << 12) + static_cast<uint64_t>(choice),
                    .history = answer.history(),
                    .drawer = &answer.sampler(),
                    .most = static_cast<int32_t>(std::min(wanted, model_.max_outputs() - 1))});
    guesses.push_back(&drawn.drafts);
  }
  if (asks.size() > kMostGuessed) return;
  // Guesses are a help, no more: answers go on without them.
  if (!draft_->guess(asks, guesses).is_ok())
    for (std::vector<int32_t>* guess : guesses) guess->clear();
}

void StepLoop::report() {
  for (const Beams& beams : beams_) take_beams(beams);
  guess();
  outcomes_.clear();
  for (const Drawn& drawn : drawn_)
    outcomes_.push_back({.tokens = drawn.tokens,
                         .is_last = drawn.outputs.empty() || drawn.outputs.back().is_last,
                         .drafts = drawn.drafts,
                         .parent = drawn.parent});
  scheduler_->done(now_us(), outcomes_);
  for (Drawn& drawn : drawn_) {
    if (!drawn.request) continue;  // a beam's
    if (drawn.outputs.empty()) end_answers(*drawn.request, FinishReason::kLength, {});
    for (Output& output : drawn.outputs) queue(*drawn.request, std::move(output));
  }
}

// None of the step's requests can go on; the others do. What was drawn before the step failed is told: an answer that
// ended by it would otherwise never be heard of again.
void StepLoop::fail(const schedule::Step& step, const Status& status) {
  for (Drawn& drawn : drawn_)
    for (Output& output : drawn.outputs) queue(*drawn.request, std::move(output));
  std::vector<schedule::RequestId> ids;
  for (const schedule::Run& run : step.runs) ids.push_back(run.request);
  scheduler_->undo();
  if (is_page_lost_) return fail_all(status);
  for (schedule::RequestId id : ids) {
    if (ActiveRequest* request = find(id)) end_answers(*request, FinishReason::kCancelled, status);
    scheduler_->cancel(id);
  }
}

// Nobody knows who would read the page that was lost: everything ends, and nothing is found again.
void StepLoop::fail_all(const Status& status) {
  for (const auto& [id, request] : requests_) end_answers(*request, FinishReason::kCancelled, status);
  scheduler_->cancel_all();
  (void)scheduler_->plan(now_us());  // they give their pages back
  scheduler_->cache().forget_all();
  is_page_lost_ = false;
}

ExecutorStats StepLoop::stats() const {
  ExecutorStats stats = ends_;
  const schedule::SchedulerCounts s = scheduler_->counts();
  const kv::CacheCounts c = scheduler_->cache().counts();
  stats.requests_running = s.running;
  stats.requests_waiting = s.waiting;
  stats.pages = c.pages;
  stats.pages_used = c.used;
  stats.pages_cached = c.cached;
  stats.pages_offloaded = c.offloaded_pages;
  stats.pages_restored = c.restored_pages;
  stats.steps = s.steps;
  stats.prompt_tokens = s.prompt_tokens;
  stats.reused_tokens = s.reused_tokens;
  stats.answer_tokens = s.answer_tokens;
  stats.preemptions = s.pauses;
  return stats;
}

}  // namespace nereid::llm
