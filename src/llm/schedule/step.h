// SPDX-License-Identifier: Apache-2.0
// What the scheduler has decided for one step, and what the executor tells of it afterwards.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "llm/kv/move.h"
#include "llm/schedule/request.h"

namespace nereid::schedule {

// Tokens of one sequence that are run in this step.
struct Run {
  RequestId request;
  int32_t choice = 0;  // of the answers; 0 for a prompt that all of them share
  kv::SequenceId sequence;
  int32_t position = 0;             // of the first token
  std::span<const int32_t> tokens;  // valid until done()
  int32_t drafts = 0;               // of the tokens, at the end: proposals whose logits decide whether they stay
  // Answers whose next token is drawn from the logits of the last token that is no draft: 0 where the prompt goes on
  // in a later step; 1; for a prompt of n choices at its end n, the choices choice .. choice + n - 1.
  // Of beams, all runs of a step together have as many outputs as there are choices.
  int32_t outputs = 0;
  int32_t table_from = 0;  // the sequence's table row has changed from this entry on
  bool is_prompt = false;  // a part of a prompt (or of what a pause made compute again), not an answer's next token
};

// A choice that ends without the executor's saying so; its row of the table is free again.
struct Ended {
  RequestId request;
  int32_t choice = 0;
  EndReason reason = EndReason::kCancelled;
};

// To be carried out in this order: report what has ended; move pages; run the tokens; tell done().
struct Step {
  std::vector<Ended> ended;
  std::vector<kv::Move> moves;
  std::vector<Run> runs;           // next tokens of answers first, then parts of prompts
  int32_t tokens = 0;              // of all runs
  int32_t outputs = 0;             // of all runs: how many outcomes done() wants
  std::vector<RequestId> started;  // taken from the queue (again, after a pause); for statistics and traces
  std::vector<RequestId> paused;   // pages given back; goes on later by computing again
};

// What came of one output of a run, in the order of runs and of choices within a run.
struct Outcome {
  std::span<const int32_t> tokens;  // drafts that were accepted, then the token drawn: at least one
  bool is_last = false;             // the answer has ended (max_tokens ends it too, whatever this says)
  std::span<const int32_t> drafts;  // proposals for the next step; they run when there is room
  // Of beams: which of the request's runs of this step it goes on from. Those that live come first; one without tokens
  // is none. A search without any has ended.
  int32_t parent = 0;
};

}  // namespace nereid::schedule
