// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/metric_table.h"

#include <array>

namespace nereid::server::metrics {
namespace {

using enum MetricKind;

// From a token of a small model on a fast machine to a long answer of a large one on a slow one.
constexpr double kLatency[] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120};
constexpr double kTokenGap[] = {0.001, 0.0025, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03,
                                0.05,  0.075,  0.1,   0.25,   0.5,  1,     2.5};
constexpr double kTokens[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};

constexpr MetricRow kRows[] = {
    {Metric::kBuildInfo, "nereid_build_info", kGauge, "", "version", "1, for what the labels say of the program"},

    {Metric::kHttpRequests, "nereid_http_requests_total", kCounter, "requests", "endpoint,method,status",
     "requests that have been answered or given up"},
    {Metric::kHttpRequestSeconds, "nereid_http_request_duration_seconds", kHistogram, "seconds", "endpoint",
     "from a request's first byte to its response's last", kLatency},
    {Metric::kHttpResponseBytes, "nereid_http_response_bytes_total", kCounter, "bytes", "endpoint",
     "bytes of response bodies"},
    {Metric::kHttpConnections, "nereid_http_connections", kGauge, "connections", "", "connections that are open"},
    {Metric::kHttpConnectionsTotal, "nereid_http_connections_total", kCounter, "connections", "",
     "connections that have been accepted"},
    {Metric::kHttpConnectionsRefused, "nereid_http_connections_refused_total", kCounter, "connections", "",
     "connections beyond the most that the server takes"},
    {Metric::kHttpRequestsRunning, "nereid_http_requests_running", kGauge, "requests", "",
     "requests whose response is not complete"},

    {Metric::kModelReady, "nereid_model_ready", kGauge, "", "model", "1 when the model answers requests"},
    {Metric::kRequests, "nereid_requests_total", kCounter, "requests", "model,outcome",
     "choices that have ended: stop, length, cancelled, timeout, failed; and requests that were refused"},
    {Metric::kRequestsRunning, "nereid_requests_running", kGauge, "requests", "model", "requests in the batch"},
    {Metric::kRequestsWaiting, "nereid_requests_waiting", kGauge, "requests", "model", "requests in the queue"},
    {Metric::kTimeToFirstToken, "nereid_time_to_first_token_seconds", kHistogram, "seconds", "model",
     "from a request's arrival at the model to its first token", kLatency},
    {Metric::kInterToken, "nereid_inter_token_seconds", kHistogram, "seconds", "model",
     "from one token of a choice to its next", kTokenGap},
    {Metric::kRequestSeconds, "nereid_request_duration_seconds", kHistogram, "seconds", "model",
     "from a request's arrival at the model to the end of its last choice", kLatency},
    {Metric::kPromptTokens, "nereid_prompt_tokens_total", kCounter, "tokens", "model", "tokens of prompts"},
    {Metric::kReusedTokens, "nereid_reused_tokens_total", kCounter, "tokens", "model",
     "tokens of prompts that were found in the cache"},
    {Metric::kAnswerTokens, "nereid_answer_tokens_total", kCounter, "tokens", "model", "tokens of answers"},
    {Metric::kPromptTokensOfRequest, "nereid_request_prompt_tokens", kHistogram, "tokens", "model",
     "prompt of a request", kTokens},
    {Metric::kAnswerTokensOfRequest, "nereid_request_answer_tokens", kHistogram, "tokens", "model",
     "answer of a choice", kTokens},
    {Metric::kSteps, "nereid_steps_total", kCounter, "steps", "model", "steps of the model"},
    {Metric::kStepSeconds, "nereid_step_duration_seconds", kHistogram, "seconds", "model",
     "from the plan of a step to its last token", kTokenGap},
    {Metric::kStepModelSeconds, "nereid_step_model_seconds", kHistogram, "seconds", "model",
     "of a step, what the model took", kTokenGap},
    {Metric::kStepTokens, "nereid_step_tokens", kHistogram, "tokens", "model,kind",
     "tokens that were run in a step: prompt, answer (guesses are among them)", kTokens},
    {Metric::kStepSequences, "nereid_step_sequences", kHistogram, "sequences", "model",
     "parts of prompts and answers in a step", kTokens},
    {Metric::kDraftTokens, "nereid_draft_tokens_total", kCounter, "tokens", "model", "tokens that were guessed"},
    {Metric::kAcceptedTokens, "nereid_accepted_draft_tokens_total", kCounter, "tokens", "model",
     "guesses that were right"},
    {Metric::kPages, "nereid_cache_pages", kGauge, "pages", "model", "pages of the key/value cache"},
    {Metric::kPagesUsed, "nereid_cache_pages_used", kGauge, "pages", "model", "pages that requests hold"},
    {Metric::kPagesCached, "nereid_cache_pages_cached", kGauge, "pages", "model",
     "pages that are kept for prefixes to come"},
    {Metric::kPreemptions, "nereid_preemptions_total", kCounter, "requests", "model",
     "times that a request gave its pages to another and began again later"},

    {Metric::kCpuSeconds, "nereid_process_cpu_seconds_total", kCounter, "seconds", "",
     "processor time of the process, user and system"},
    {Metric::kResidentBytes, "nereid_process_resident_memory_bytes", kGauge, "bytes", "", "memory that is resident"},
    {Metric::kOpenFiles, "nereid_process_open_fds", kGauge, "descriptors", "", "open file descriptors"},
    {Metric::kMaxFiles, "nereid_process_max_fds", kGauge, "descriptors", "", "most open file descriptors"},
    {Metric::kStartTime, "nereid_process_start_time_seconds", kGauge, "seconds", "",
     "when the server began, in seconds since 1970"},
};

constexpr bool rows_are_in_order() {
  for (size_t i = 0; i < std::size(kRows); ++i)
    if (static_cast<size_t>(kRows[i].id) != i) return false;
  return std::size(kRows) == static_cast<size_t>(Metric::kCount);
}
static_assert(rows_are_in_order());

constexpr bool names_fit_their_kinds() {
  for (const MetricRow& row : kRows) {
    if (!row.name.starts_with("nereid_")) return false;
    if (row.name.ends_with("_total") != (row.kind == kCounter)) return false;
    if (row.buckets.empty() == (row.kind == kHistogram)) return false;
  }
  return true;
}
static_assert(names_fit_their_kinds());

}  // namespace

std::span<const MetricRow> metric_table() {
  return kRows;
}

const MetricRow& row_of(Metric metric) {
  return kRows[static_cast<size_t>(metric)];
}

}  // namespace nereid::server::metrics
