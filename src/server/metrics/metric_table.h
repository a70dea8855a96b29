// SPDX-License-Identifier: Apache-2.0
// What a server measures: one row a metric. docs/reference is made from it.
//
// Names are Prometheus' way: base units (seconds, bytes), totals end in _total.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace nereid::server::metrics {

enum class MetricKind : uint8_t { kCounter, kGauge, kHistogram };

// In the order of the table.
enum class Metric : uint8_t {
  kBuildInfo,
  kHttpRequests,
  kHttpRequestSeconds,
  kHttpResponseBytes,
  kHttpConnections,
  kHttpConnectionsTotal,
  kHttpConnectionsRefused,
  kHttpRequestsRunning,
  kModelReady,
  kRequests,
  kRequestsRunning,
  kRequestsWaiting,
  kTimeToFirstToken,
  kInterToken,
  kRequestSeconds,
  kPromptTokens,
  kReusedTokens,
  kAnswerTokens,
  kPromptTokensOfRequest,
  kAnswerTokensOfRequest,
  kSteps,
  kStepSeconds,
  kStepModelSeconds,
  kStepTokens,
  kStepSequences,
  kDraftTokens,
  kAcceptedTokens,
  kPages,
  kPagesUsed,
  kPagesCached,
  kPreemptions,
  kCpuSeconds,
  kResidentBytes,
  kOpenFiles,
  kMaxFiles,
  kStartTime,
  kCount,
};

struct MetricRow {
  Metric id;
  std::string_view name;
  MetricKind kind;
  std::string_view unit;    // "seconds", "bytes", "tokens", ...; for the reference
  std::string_view labels;  // names, separated by commas
  std::string_view help;
  std::span<const double> buckets = {};  // of a histogram: upper bounds, ascending, without +Inf
};

std::span<const MetricRow> metric_table();
const MetricRow& row_of(Metric metric);

}  // namespace nereid::server::metrics
