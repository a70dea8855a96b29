// SPDX-License-Identifier: Apache-2.0
// The one table of tritonserver's options, and what becomes of each in `nereid serve`.
#pragma once

#include <span>
#include <string_view>

namespace nereid::cli {

struct TritonFlag {
  enum class Use : uint8_t {
    kPassed,    // an option of `nereid serve`: `text` is its name
    kSwitched,  // true or false: `text` is an option of `nereid serve` that is added when it is true
    kIgnored,   // accepted; `text` says why it changes nothing
    kRefused,   // an error: without it the server would do less than was asked for
  };

  std::string_view name;  // "--model-repository"
  Use use;
  std::string_view text;
};

std::span<const TritonFlag> triton_flags();
const TritonFlag* find_triton_flag(std::string_view name);  // nullptr: no such

}  // namespace nereid::cli
