// SPDX-License-Identifier: Apache-2.0
#include "server/net/settings.h"

namespace nereid::server::net {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;
constexpr int64_t kDayMs = 86'400'000;

constexpr SettingRow kRows[] = {
    {"max-body-bytes", &Settings::max_body_bytes, 1024, kGiB,
     "longest request body, in bytes, unpacked where it came packed; longer is 413"},
    {"max-header-bytes", &Settings::max_header_bytes, 1024, 1 << 20, "longest request head, in bytes; longer is 431"},
    {"max-target-bytes", &Settings::max_target_bytes, 256, 1 << 20, "longest path and query, in bytes; longer is 414"},
    {"max-connections", &Settings::max_connections, 1, 1 << 20, "connections at one time; one more is 503"},
    {"max-requests-per-connection", &Settings::max_requests_per_connection, 0, 1 << 30,
     "requests after which a connection is closed; 0: any number"},
    {"header-timeout-ms", &Settings::header_timeout_ms, 10, kDayMs,
     "milliseconds from a request's first byte to the end of its head; longer is 408"},
    {"body-timeout-ms", &Settings::body_timeout_ms, 10, kDayMs,
     "milliseconds from a request's head to the end of its body; longer is 408"},
    {"idle-timeout-ms", &Settings::idle_timeout_ms, 10, kDayMs,
     "milliseconds that a connection waits for its next request before it is closed"},
    {"request-timeout-ms", &Settings::request_timeout_ms, 0, kDayMs,
     "milliseconds from a request to the end of its response, then 504; 0: none"},
    {"write-timeout-ms", &Settings::write_timeout_ms, 10, kDayMs,
     "milliseconds that a client may read nothing of what lies ready for it"},
    {"stream-queue-bytes", &Settings::stream_queue_bytes, 4096, kGiB,
     "bytes of a streamed response that may wait for a slow client before its connection is closed"},
    {"gzip-bytes", &Settings::gzip_bytes, 0, kGiB,
     "responses of so many bytes and more are packed for clients that accept gzip, streams aside; 0: none"},
    {"drain-timeout-ms", &Settings::drain_timeout_ms, 0, kDayMs,
     "milliseconds that running requests have to end when the server stops"},
    {"loop-threads", &Settings::loop_threads, 1, 64, "threads that read and write connections"},
    {"worker-threads", &Settings::worker_threads, 1, 1024, "threads that handlers run on"},
    {"backlog", &Settings::backlog, 1, 65535, "connections that the kernel keeps until they are accepted"},
};

}  // namespace

std::span<const SettingRow> setting_table() {
  return kRows;
}

Status check(const Settings& settings) {
  for (const SettingRow& row : kRows) {
    const int64_t value = settings.*row.member;
    if (value < row.least || value > row.most)
      return invalid_argument("{} takes a number from {} to {}, found {}", row.name, row.least, row.most, value);
  }
  return Status::ok();
}

}  // namespace nereid::server::net
