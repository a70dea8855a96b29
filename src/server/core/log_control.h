// SPDX-License-Identifier: Apache-2.0
// What of the server's log is written and in which form, as clients read and change it: what protocols ask.
// server/host implements it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"

namespace nereid::server {

// kPlain: "nereid: text"; kDefault: "I1130 10:08:53.123456 PID server] "text""; kIso8601: "2026-11-30T10:08:53Z I ...";
// kJson: an object a line.
enum class LogFormat : uint8_t { kPlain, kDefault, kIso8601, kJson };

struct LogSettings {
  std::string file;  // "": standard error
  bool info = true, warning = true, error = true;
  uint32_t verbose_level = 0;
  LogFormat format = LogFormat::kPlain;
};

struct LogChange {
  std::optional<bool> info = {}, warning = {}, error = {};
  std::optional<uint32_t> verbose_level = {};
  std::optional<LogFormat> format = {};
};

// Thread-safe.
class LogControl {
 public:
  virtual ~LogControl() = default;
  virtual LogSettings read() const = 0;
  virtual void change(const LogChange& change) = 0;
};

}  // namespace nereid::server
