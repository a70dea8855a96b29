// SPDX-License-Identifier: Apache-2.0
// Many requests on one language model: they join and leave the batch at every step.
//
// One thread of the executor steps the model; what it does in a step is decided by llm/schedule, where keys and values
// lie by llm/kv, which token comes by llm/sample: all of them pure. What a request gets does not depend on what else is
// in the batch, nor on whether its prompt was in the cache.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "llm/run/adapter_set.h"
#include "llm/run/iteration_stats.h"
#include "llm/run/language_model.h"
#include "llm/run/output.h"
#include "llm/sample/params.h"

namespace nereid::llm {

struct RequestId {
  uint64_t v = 0;
  auto operator<=>(const RequestId&) const = default;
};

struct Request {
  std::vector<int32_t> prompt;
  sample::SamplingParams params;
  int32_t choices = 1;           // answers to draw; choice i is drawn with seed + i, the prompt is computed once
  bool prompt_logprobs = false;  // of each token of the prompt but the first, as params.logprobs asks
  int32_t priority = 0;          // greater goes first
  int64_t timeout_us = 0;        // from enqueue to the last token; 0: none
  std::string user;              // requests of one user share what its turn gives; "" is a user, too
  // An answer that fills the context goes on from its first so many tokens and the newer half of the others, computed
  // anew (schedule/context_shift.h); -1: as ExecutorOptions say; kNoShift: it ends.
  int32_t shift_keep = -1;
  static constexpr int32_t kNoShift = -2;
  std::string adapter;  // a LoRA loaded by that name; "": the model as it is
};

// Called on the executor's thread, once for each token (the last one says that it is the last) and once for an end
// without a token, in order for each choice; it must return soon (hand the output over, do not write to a socket).
// It may call the executor. Never called again after is_last of every choice.
using OutputFn = std::function<void(Output&&)>;

// Who gets in while pages last (llm/schedule): whoever fits now, and the youngest pauses when pages run out; or only
// who surely fits to its end.
enum class SchedulePolicy : uint8_t { kMaxUtilization, kGuaranteedNoEvict };

struct ExecutorOptions {
  int64_t max_sequences = 64;  // in the batch at one time
  int64_t step_tokens = 512;   // of one step, prompts and answers together
  int64_t max_queue = 1024;    // requests beyond max_sequences that have not ended; one more is refused
  int64_t cache_tokens = 0;    // what the pages hold together; 0: by the memory there is
  int64_t page_tokens = 16;    // of a page of the cache: a prefix is shared by whole pages; 0: the engine's
  bool reuse_prefixes = true;
  // A smaller model that guesses what answers go on with (draft_model.h says how it is loaded), and how many tokens at
  // a time; it must outlive the executor, and nothing else may step it. Null: nobody guesses but who looks up
  // (params.draft_tokens).
  LanguageModel* draft = nullptr;
  int32_t draft_tokens = 4;
  int32_t shift_keep = -1;        // of requests that say nothing; -1: answers end where the context is full
  int64_t host_memory_bytes = 0;  // for pages that have to leave the cache (host_pages.h); 0: they are dropped
  std::string host_folder;        // where its file lies; "": the system's folder of temporary files
  SchedulePolicy policy = SchedulePolicy::kMaxUtilization;
  int64_t prompt_tokens_beside = 128;  // of a step, while answers are made
  std::string trace_path;              // written at the end, for a trace viewer (schedule/trace.h); "": none
  // After each step, on the executor's thread; must return soon.
  std::function<void(const IterationStats&)> on_iteration;
  int64_t max_adapters = 256;  // loaded at one time; a load past it is refused
};

// How the model is to be loaded for an executor of these options; isa and context are the caller's to add.
LoadOptions load_options(const ExecutorOptions& options);

// One number each, read at any time; totals only grow.
struct ExecutorStats {
  int64_t requests_running = 0, requests_waiting = 0;
  int64_t pages = 0, pages_used = 0, pages_cached = 0;  // used: held by requests; cached: kept for prefixes to come
  int64_t pages_offloaded = 0, pages_restored = 0;      // totals: moved to host memory and back
  int64_t steps = 0, prompt_tokens = 0, reused_tokens = 0, answer_tokens = 0;
  int64_t requests_done = 0, requests_cancelled = 0, requests_timed_out = 0, requests_failed = 0, requests_refused = 0;
  int64_t preemptions = 0;
};

// Thread-safe.
class Executor {
 public:
  // The model must have been loaded as load_options() says and outlive the executor; nothing else may step it.
  // kInvalidArgument: it was not, or an option makes no sense.
  static Result<std::unique_ptr<Executor>> start(LanguageModel& model, const ExecutorOptions& options);
  virtual ~Executor() = default;  // cancels what is left and waits for the step at hand

  // kInvalidArgument: a prompt that is empty, too long or holds foreign tokens, bad parameters; kNotFound: no such
  // adapter; kExhausted: the queue is full; kUnavailable: stopping. Nothing is called back then. A grammar is compiled
  // on the caller's thread.
  virtual Result<RequestId> enqueue(Request request, OutputFn on_output) = 0;
  // Ends it within a step: its choices end with kCancelled. Nothing happens for one that has ended.
  virtual void cancel(RequestId id) = 0;
  virtual ExecutorStats stats() const = 0;
  // The latest steps that nobody has taken, oldest first, at most kIterationsKept.
  virtual std::vector<IterationStats> take_iterations() = 0;

  // From now on requests may name it (Request::adapter). Reads its files on the caller's thread; nothing that runs
  // waits. Errors: as AdapterSet::load.
  virtual Status load_adapter(const std::string& name, std::vector<AdapterSource> sources) = 0;
  // No request may name it any more; those at hand end with it, and its memory goes with the last of them. kNotFound:
  // there is none of that name.
  virtual Status unload_adapter(std::string_view name) = 0;
  virtual std::vector<AdapterPtr> adapters() const = 0;  // by name
  // Refuses new requests, lets those at hand end, at most so long; then cancels the rest. kInvalidArgument from an
  // output function, which would wait for itself.
  virtual Status drain(int64_t timeout_us) = 0;
};

}  // namespace nereid::llm
