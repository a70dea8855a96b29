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

#include "llm/run/generate.h"
#include "llm/run/language_model.h"
#include "llm/sample/params.h"
#include "llm/sample/sampler.h"

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
  std::string adapter;           // a LoRA loaded by that name; "": the model as it is
};

// What a step gave one choice of one request.
struct Output {
  int32_t choice = 0;
  int32_t token = -1;            // -1: no new token (text that was held back, or an end without one)
  std::string text;              // has become final: whole characters, no beginning of a stop text
  sample::SampleResult sample;   // of the token, with log-probabilities where they were asked for
  bool is_last = false;          // of this choice
  FinishReason finish_reason{};  // of the last
  Status status;                 // of the last; not ok where the request failed (finish_reason says nothing)
  int64_t prompt_tokens = 0;     // with the last
  int64_t reused_tokens = 0;     // with the last: of the prompt, found in the cache
  int64_t answer_tokens = 0;     // with the last: of this choice
  std::vector<sample::SampleResult> prompt;  // with the first output of choice 0, where prompt_logprobs asked for it
};

// Called on the executor's thread, once for each token and once for each end, in order; it must return soon (hand the
// output over, do not write to a socket). Never called again after is_last of every choice.
using OutputFn = std::function<void(Output&&)>;

struct ExecutorOptions {
  int64_t max_sequences = 64;  // in the batch at one time
  int64_t step_tokens = 512;   // of one step, prompts and answers together
  int64_t max_queue = 1024;    // requests that wait; one more is refused with kExhausted
  int64_t cache_tokens = 0;    // what the pages hold; 0: by the memory there is
  bool reuse_prefixes = true;
};

// One number each, read at any time; totals only grow.
struct ExecutorStats {
  int64_t requests_running = 0, requests_waiting = 0;
  int64_t pages = 0, pages_used = 0, pages_cached = 0;  // used: held by requests; cached: kept for prefixes to come
  int64_t steps = 0, prompt_tokens = 0, reused_tokens = 0, answer_tokens = 0;
  int64_t requests_done = 0, requests_cancelled = 0, requests_failed = 0, requests_refused = 0, preemptions = 0;
};

// Thread-safe.
class Executor {
 public:
  // The model must have been loaded with at least these sequences and step tokens, and outlive the executor; nothing
  // else may step it.
  static Result<std::unique_ptr<Executor>> start(LanguageModel& model, const ExecutorOptions& options);
  virtual ~Executor() = default;  // cancels what is left and waits for the step at hand

  // kInvalidArgument: a prompt that is empty, too long or holds foreign tokens, bad parameters; kNotFound: no such
  // adapter; kExhausted: the queue is full; kUnavailable: stopping. Nothing is called back then.
  virtual Result<RequestId> enqueue(Request request, OutputFn on_output) = 0;
  // Ends it within a step: its choices end with kCancelled. Nothing happens for one that has ended.
  virtual void cancel(RequestId id) = 0;
  virtual ExecutorStats stats() const = 0;
  // Refuses new requests, lets those at hand end, at most so long; then cancels the rest.
  virtual void drain(int64_t timeout_us) = 0;
};

}  // namespace nereid::llm
