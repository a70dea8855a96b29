// SPDX-License-Identifier: Apache-2.0
// What the scheduler knows of a request, and how a request can end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "llm/kv/cache.h"

namespace nereid::schedule {

// Given by the caller; unique among those that have not ended.
struct RequestId {
  uint64_t v = 0;
  auto operator<=>(const RequestId&) const = default;
};

// All times are on the caller's clock, in microseconds, and only grow.
struct NewRequest {
  RequestId id = {};
  std::vector<int32_t> prompt = {};
  int32_t max_tokens = 0;  // of each answer
  int32_t choices = 1;     // answers; the prompt is computed once
  // The choices are the beams of one search: they run side by side in every step and go on from each other
  // (Outcome::parent). They pause together.
  bool beams = false;
  int32_t priority = 0;      // greater goes first; a level is worth SchedulerOptions::level_us of waiting
  int64_t deadline_us = 0;   // among equals, the earlier goes first; passing it ends nothing; 0: none
  int64_t expires_us = 0;    // ends as kTimeout then; 0: never
  std::string user = {};     // users get equal shares
  std::string key = {};      // of the cache: adapter and salt
  bool reuse_prefix = true;  // false: the whole prompt is computed (its log-probabilities are wanted)
  kv::Retention retention = {};
  // Prompt and answer that are longer than `shift_at` together go on from their first `shift_keep` tokens and the newer
  // half of the others (context_shift.h); 0: they are not. Not for beams.
  int32_t shift_at = 0, shift_keep = 0;
};

enum class EndReason : uint8_t {
  kDone,       // the executor said so, or max_tokens were reached
  kCancelled,  // by cancel()
  kTimeout,    // expires_us has passed
};
std::string_view end_reason_name(EndReason reason);  // "done", "cancelled", "timeout"

}  // namespace nereid::schedule
