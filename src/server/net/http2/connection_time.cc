// SPDX-License-Identifier: Apache-2.0
// A connection's times: of requests, of its beginning, of pings that keep it alive, and of its age.
#include <algorithm>

#include "base/clock.h"
#include "server/net/http2/connection.h"

namespace nereid::server::net::http2 {
namespace {

constexpr int64_t kMs = 1'000'000;

}  // namespace

int64_t Connection::deadline_ns() const {
  if (phase_ == Phase::kClosed) return kNever;
  const KeepAlive& keep = host_.options->keep_alive;
  int64_t next = std::min({begin_deadline_ns_, ping_deadline_ns_, age_deadline_ns_, end_deadline_ns_});
  if (ping_deadline_ns_ == kNever && keep.time_ms < KeepAlive::kNever)
    next = std::min(next, heard_ns_ + keep.time_ms * kMs);
  return std::min(next, session_.deadline_ns());
}

void Connection::on_deadline(int64_t at_ns) {
  if (phase_ == Phase::kClosed) return;
  if (std::min({begin_deadline_ns_, ping_deadline_ns_, end_deadline_ns_}) <= at_ns) return close();
  session_.on_deadline(at_ns);
  const KeepAlive& keep = host_.options->keep_alive;
  if (ping_deadline_ns_ == kNever && heard_ns_ + keep.time_ms * kMs <= at_ns) {
    const bool is_spent = keep.most_pings_without_data > 0 && pings_in_row_ >= keep.most_pings_without_data;
    if (!is_spent && (session_.has_streams() || keep.without_streams)) {
      session_.ping();
      ++pings_in_row_;
      ping_deadline_ns_ = at_ns + keep.timeout_ms * kMs;
    } else {
      heard_ns_ = at_ns;  // nobody to be kept alive for, or enough of it; asked again later
    }
  }
  if (age_deadline_ns_ <= at_ns) {
    age_deadline_ns_ = kNever;
    if (keep.max_age_grace_ms < KeepAlive::kNever) end_deadline_ns_ = at_ns + keep.max_age_grace_ms * kMs;
    session_.drain();
  }
  host_.expect_by(deadline_ns());
  pump();
}

}  // namespace nereid::server::net::http2
