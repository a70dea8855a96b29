// SPDX-License-Identifier: Apache-2.0
// The one table of trtexec's flags: those of the releases 8.6, 10 and 11, and what becomes of each here.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace nereid::cli {

struct TrtexecFlag {
  enum class Value : uint8_t { kNone, kOptional, kRequired };
  enum class Use : uint8_t {
    kActs,     // does what it says
    kIgnored,  // accepted; one line says why it changes nothing
    kRefused,  // an error: the result would not be what was asked for
  };

  std::string_view name;  // "--onnx"
  Value value;            // behind '='
  Use use;
  std::string_view text;  // what it does, or why it is ignored or refused
};

std::span<const TrtexecFlag> trtexec_flags();
const TrtexecFlag* find_trtexec_flag(std::string_view name);  // null: no such

}  // namespace nereid::cli
