// SPDX-License-Identifier: Apache-2.0
// What a load test saw, request by request, and what that comes to. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/status.h"

namespace nereid::server::load {

struct RequestFigures {
  int64_t due_ns = 0;    // when it was to be sent; of closed loops: when it was
  int64_t first_ns = 0;  // its first text; 0: none
  int64_t end_ns = 0;
  std::vector<int64_t> gaps_ns;  // between pieces of text
  int64_t prompt_tokens = 0;     // as the server says; else as planned
  int64_t answer_tokens = 0;     // as the server says; else pieces of text
  int status = 0;                // of HTTP; 0: no response
  std::string error;             // a sentence; "": all went well

  bool is_ok() const { return error.empty(); }
  int64_t ttft_ns() const { return first_ns - due_ns; }
  int64_t whole_ns() const { return end_ns - due_ns; }
  double per_token_ns() const;  // after the first; 0 where there is no second
};

// What a user calls good: requests that keep all of it count for goodput.
struct ServiceLevel {
  double ttft_ms = 0, itl_ms = 0, e2e_ms = 0;  // 0: any
  bool any() const { return ttft_ms > 0 || itl_ms > 0 || e2e_ms > 0; }
  bool keeps(const RequestFigures& r) const;  // itl: by the mean of the request
};
// "ttft=500ms,itl=0.05s,e2e=20": a number without a unit is in milliseconds.
Result<ServiceLevel> parse_service_level(std::string_view text);

struct Spread {
  double mean = 0, p50 = 0, p90 = 0, p95 = 0, p99 = 0, max = 0;
};
// Percentiles by linear interpolation between closest ranks, as numpy's default. Zeros of nothing.
Spread spread_of(std::vector<double> values);

struct LoadSummary {
  std::string mode;  // "concurrency 8", "rate 2.5/s", "trace"
  double level = 0;  // the number in it
  int64_t requests = 0, failed = 0;
  double seconds = 0;  // from the first request to the last end
  double requests_per_second = 0, answer_tokens_per_second = 0, all_tokens_per_second = 0;
  int64_t prompt_tokens = 0, answer_tokens = 0;
  Spread ttft_ms, itl_ms, tpot_ms, e2e_ms;
  double goodput_per_second = 0, goodput_share = 0;  // of what was asked for
  std::string first_error;
};

struct LoadRun {
  LoadSummary summary;
  std::vector<RequestFigures> requests;
};

LoadSummary summarize(std::string mode, double level, const std::vector<RequestFigures>& requests,
                      const ServiceLevel& service_level);

}  // namespace nereid::server::load
