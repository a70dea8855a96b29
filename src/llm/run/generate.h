// SPDX-License-Identifier: Apache-2.0
// One prompt to one answer: prefill in chunks, then token by token, with sampling, stops and streaming text.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "llm/run/draft_model.h"
#include "llm/run/language_model.h"
#include "llm/run/output.h"
#include "llm/sample/sampler.h"

namespace nereid::llm {

class Answer;

struct Generated {
  std::vector<int32_t> tokens;  // without the prompt and without the end token; a stop text's tokens are among them
  std::string text;             // without the stop text
  FinishReason finish_reason = FinishReason::kStop;
  int64_t prompt_tokens = 0;
  int64_t reused_tokens = 0;                        // of the prompt, found in the cache from the last call
  int64_t guessed_tokens = 0, accepted_tokens = 0;  // by a draft; and those of them that were right
  double time_to_first_token_ms = 0;
  double prefill_ms = 0;
  double decode_ms = 0;  // of the tokens after the first
  // Of the tokens after the first, which is the prefill's; 0 while there is none.
  double tokens_per_second() const;
  double prefill_tokens_per_second() const;
};

// The ids of a prompt that is plain text: what the model wants before a text (BOS), not what it wants after one; texts
// such as "<|im_end|>" become their special token.
std::vector<int32_t> encode_prompt(const token::Tokenizer& tokenizer, std::string_view text);

// kInvalidArgument: empty, longer than the model's context (both lengths named), or with tokens that it does not know.
Status check_prompt(std::span<const int32_t> prompt, const LanguageModel& model);

// Tokens that an answer may have at most: what was asked for, and what the context leaves where it does not shift.
int64_t answer_limit(const LanguageModel& model, std::span<const int32_t> prompt, const sample::SamplingParams& params,
                     bool shifts = false);

// What has just become final; returning false ends the generation (kCancelled).
struct Piece {
  std::string_view text;  // may be empty while a character or a possible stop string is incomplete
  int32_t token = 0;      // -1 for the last piece, if an answer that ends without a token leaves text
  const sample::SampleResult* sample = nullptr;  // of the token; nullptr with -1
};
using PieceFn = std::function<bool(const Piece&)>;

// Holds one sequence: a prompt that begins with what the sequence holds already is only computed from where it differs,
// so a chat costs each turn once. One thread at a time.
class Generator {
 public:
  // `stop` is asked before each step whether to go on; the default is Ctrl-C (base/interrupt.h).
  using StopFn = std::function<bool()>;
  explicit Generator(LanguageModel& model, int32_t sequence = 0, StopFn stop = interrupted)
      : model_(model), sequence_(sequence), stop_(std::move(stop)) {}

  // Errors: kInvalidArgument for a prompt that is empty or longer than the context (both lengths named), a token
  // outside the vocabulary or bad parameters. Generation that reaches the context's end finishes with kLength. A true
  // from `stop` or a false from `on_piece` finishes with kCancelled and what there is until then.
  Result<Generated> generate(std::span<const int32_t> prompt, const sample::SamplingParams& params,
                             const PieceFn& on_piece = {});

  // What answers are given with from now on, null: the model as it is. Forgets the sequence.
  void set_adapter(std::shared_ptr<const runtime::Adapter> adapter) {
    adapter_ = std::move(adapter);
    reset();
  }
  // Forgets the sequence.
  void reset() { held_.clear(); }

  // Who guesses so many tokens at a time from now on; the model must have been loaded for one output more. Null:
  // nobody.
  void set_draft(DraftModel* draft, int32_t tokens) {
    draft_ = draft;
    draft_tokens_ = tokens;
  }
  // An answer that fills the context goes on: the first `keep` tokens stay, the older half of the others is dropped,
  // and what is left is computed anew (schedule/context_shift.h says why). Without it such an answer ends (kLength).
  void shift_context(int32_t keep) { shift_keep_ = keep; }

  // The sequence, with a text of the caller's, to a file and back (session_file.h). Not for a model whose pages are the
  // caller's.
  Status save(const std::string& path, std::string_view note = {}) const;
  // The note. What was held before is forgotten, also by an error.
  Result<std::string> restore(const std::string& path);
  std::span<const int32_t> held() const { return held_; }

 private:
  // Both append to held_; the logits of the last token are there afterwards. kCancelled: `stop` said so.
  Status prefill(std::span<const int32_t> prompt);
  Status step(int32_t token, std::span<const int32_t> guesses);
  std::vector<int32_t> guess(const Answer& answer);
  Status shift(int32_t token);

  LanguageModel& model_;
  int32_t sequence_;
  StopFn stop_;
  int32_t shift_keep_ = -1;  // -1: it does not shift
  DraftModel* draft_ = nullptr;
  int32_t draft_tokens_ = 0;
  std::vector<int32_t> held_;  // tokens whose keys and values are in the cache
  std::shared_ptr<const runtime::Adapter> adapter_;
};

}  // namespace nereid::llm
