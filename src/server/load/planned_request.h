// SPDX-License-Identifier: Apache-2.0
// What a load test asks for and when: by hand, by chance or as a recorded trace. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace nereid::server::load {

struct PlannedRequest {
  int64_t at_us = 0;  // after the beginning; of no meaning where a free connection decides
  int64_t prompt_tokens = 0;
  int64_t answer_tokens = 0;
};

// `count` requests whose distances are exponential with a mean of 1/rate seconds. The same seed gives the same plan.
std::vector<PlannedRequest> poisson_plan(int64_t count, double rate, int64_t prompt_tokens, int64_t answer_tokens,
                                         uint64_t seed);

// One JSON object a line: when ("timestamp" in milliseconds, as Mooncake's traces have it, or "at_s"), the prompt's
// tokens ("input_length" or "prompt_tokens") and the answer's ("output_length" or "answer_tokens"). Sorted by time; the
// first request is at 0; `speed` 2 is twice as fast. kInvalidArgument names the line.
Result<std::vector<PlannedRequest>> parse_trace(std::string_view jsonl, double speed);

// Text of about so many tokens: common words, each of which is a token with the blank before it in most vocabularies.
// Another `seed`, another text; the first `shared` words are the same for all seeds.
std::string prompt_text(int64_t tokens, int64_t shared, uint64_t seed);

}  // namespace nereid::server::load
