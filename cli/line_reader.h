// SPDX-License-Identifier: Apache-2.0
// Lines from stdin for a conversation, and a Ctrl-C that stops an answer instead of the program.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nereid::cli {

// From its making on, Ctrl-C only sets a flag; one more while the flag is set ends the program (130).
// One at a time, on the thread that reads.
class LineReader {
 public:
  LineReader();
  LineReader(const LineReader&) = delete;
  ~LineReader();

  bool is_terminal() const { return is_terminal_; }
  // The next line without its end; `prompt` is shown on a terminal. Nothing: the input has ended, or Ctrl-C was
  // pressed (then stopped() is true).
  std::optional<std::string> next(std::string_view prompt);

  // Ctrl-C was pressed since the last forget_stop().
  static bool stopped();
  static void forget_stop();

 private:
  const bool is_terminal_;
  bool at_end_ = false;
  std::string buffer_;
};

}  // namespace nereid::cli
