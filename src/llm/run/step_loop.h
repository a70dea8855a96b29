// SPDX-License-Identifier: Apache-2.0
// The executor without its thread: one call, one step of everything that is running.
//
// What to run comes from llm/schedule, which also keeps the accounts of the pages; here it is carried out on the model:
// pages are copied and laid out, tokens run, answers drawn (all rows of a step side by side).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "llm/run/active_request.h"
#include "llm/run/draft_model.h"
#include "llm/run/executor.h"
#include "llm/run/host_pages.h"
#include "llm/run/mask_maker.h"
#include "llm/run/row_draws.h"
#include "llm/schedule/scheduler.h"
#include "llm/schedule/trace.h"

namespace nereid::llm {

// One thread at a time.
class StepLoop {
 public:
  static Result<std::unique_ptr<StepLoop>> make(LanguageModel& model, const ExecutorOptions& options);

  // A request that the scheduler refuses ends at once.
  void add(std::unique_ptr<ActiveRequest> request);
  void cancel(RequestId id) { scheduler_->cancel({id.v}); }
  void cancel_all() { scheduler_->cancel_all(); }
  // Forgets its keys and values once no request has it any more.
  void retire(AdapterPtr adapter);
  // False: there was nothing to run.
  bool step();
  // Calls back with all that has come since the last call, which the stats count already. How many requests have ended
  // by that.
  int64_t deliver();

  // Called while a device is at work on a step, for what can be done meanwhile, deliver() above all; true: it will be.
  // On the CPU there is no such time.
  bool set_meanwhile(std::function<void()> meanwhile) {
    meanwhile_ = std::move(meanwhile);
    return model_.can_draw();
  }

  bool has_work() const { return !requests_.empty(); }
  // Longest prompt and answer together that the pages can hold.
  int64_t longest_sequence() const { return scheduler_->longest_sequence(); }
  ExecutorStats stats() const;
  // Of the last step that ran something.
  const IterationStats& iteration() const { return iteration_; }
  // At the end. Nothing where no trace was asked for.
  Status write_trace();

 private:
  // What some rows of the model's logits are for.
  struct Use {
    ActiveRequest* request = nullptr;
    int32_t row = 0;                  // the first
    int64_t position = -1;            // of the prompt's token whose row it is; -1: tokens are drawn
    size_t outcome = 0;               // of the first choice
    int32_t choice = 0, choices = 1;  // that draw from it
    std::span<const int32_t> drafts;  // the rows that follow are theirs
    int32_t drawn = -1;               // of the draws on the device; -1: from the logits
  };
  // What has come of one output of a scheduler's run.
  struct Drawn {
    ActiveRequest* request = nullptr;
    std::vector<Output> outputs;
    std::vector<int32_t> tokens;  // as the scheduler wants them: an end token is among them
    std::vector<int32_t> drafts;  // for the next step
    int32_t parent = 0;           // of a beam
  };
  // The outcomes of a beam search in a step: `count` from `outcome` on.
  struct Beams {
    ActiveRequest* request = nullptr;
    size_t outcome = 0, count = 0;
  };

  StepLoop(LanguageModel& model, std::unique_ptr<schedule::Scheduler> scheduler)
      : model_(model), scheduler_(std::move(scheduler)) {}
  ActiveRequest* find(schedule::RequestId id) const;
  void end_answers(ActiveRequest& request, FinishReason reason, const Status& status);
  void queue(ActiveRequest& request, Output&& output);
  void tell_later(ActiveRequest& request, Output&& output);
  void count_end(const ActiveRequest& request, const Output& last);
  void take_ended(const schedule::Step& step);
  Status lay_out(const schedule::Step& step);
  Status carry_out(const kv::Move& move);
  void fail_all(const Status& status);
  Status run(const schedule::Step& step);
  Status run_tokens(const schedule::Run& run, ActiveRequest& request, size_t outcome);
  Status flush();
  void prepare_masks();
  Status step_model();
  Status step_on_device(const StepInput& input);
  void record(const schedule::Step& step, int64_t from_us);
  void apply(const Use& use);
  void draw(Answer& answer, const Use& use, bool is_shared, Drawn* drawn);
  void fail(const schedule::Step& step, const Status& status);
  void guess();
  void report();
  void take_beams(const Beams& beams);
  void forget_retired();

  LanguageModel& model_;
  std::unique_ptr<schedule::Scheduler> scheduler_;
  std::unique_ptr<HostPages> host_;  // none: pages that have to leave the cache are dropped
  std::vector<std::byte> page_;      // on its way
  bool is_page_lost_ = false;        // the accounts say that a page is there which is not
  std::unordered_map<uint64_t, std::unique_ptr<ActiveRequest>> requests_;
  std::vector<std::pair<ActiveRequest*, Output>> queued_;  // to be told
  std::vector<uint64_t> ended_;                            // once that is done
  ExecutorStats ends_;                                     // only the totals of ended requests
  IterationStats iteration_;
  std::unique_ptr<schedule::TraceWriter> trace_;  // if one was asked for
  std::optional<AtomicFile> trace_file_;          // where it goes
  std::unique_ptr<DraftModel> draft_;             // none: guesses are looked up
  int32_t draft_tokens_ = 0;
  MaskMaker mask_maker_;
  bool makes_masks_beside_ = false;  // a CPU is left for it
  std::vector<AdapterPtr> retired_;  // unloaded, but perhaps still in use
  std::function<void()> meanwhile_;

  // Of the step at hand; all keep their memory.
  std::vector<int32_t> tokens_, positions_, sequences_, rows_;
  std::vector<const runtime::Adapter*> adapters_;  // as many as tokens; empty while none has one
  std::vector<Use> uses_;
  RowDraws draws_;
  std::vector<int32_t> wanted_rows_;  // of logits
  std::vector<Drawn> drawn_;
  std::vector<Beams> beams_;
  std::vector<schedule::Outcome> outcomes_;
};

}  // namespace nereid::llm
