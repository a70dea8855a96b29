// SPDX-License-Identifier: Apache-2.0
// The limits of an HTTP server, each with its bounds and what it is for: one table serves flags, checks and reference.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace nereid::server::net {

struct Settings {
  int64_t max_body_bytes = int64_t{16} << 20;
  int64_t max_header_bytes = 32 << 10;
  int64_t max_target_bytes = 8 << 10;
  int64_t max_connections = 16384;
  int64_t max_requests_per_connection = 0;
  int64_t header_timeout_ms = 10'000;
  int64_t body_timeout_ms = 60'000;
  int64_t idle_timeout_ms = 75'000;
  int64_t request_timeout_ms = 0;
  int64_t write_timeout_ms = 30'000;
  int64_t stream_queue_bytes = int64_t{1} << 20;
  int64_t gzip_bytes = 4096;
  int64_t drain_timeout_ms = 30'000;
  int64_t loop_threads = 1;
  int64_t worker_threads = 4;
  int64_t backlog = 1024;
};

struct SettingRow {
  std::string_view name;  // of the flag, without "--"
  int64_t Settings::*member;
  int64_t least, most;
  std::string_view help;  // with its unit
};

std::span<const SettingRow> setting_table();
// kInvalidArgument: a value out of its bounds.
Status check(const Settings& settings);

}  // namespace nereid::server::net
