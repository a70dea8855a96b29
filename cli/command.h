// SPDX-License-Identifier: Apache-2.0
// A subcommand of `nereid`: its row in the table, and how it ends.
#pragma once

#include <span>
#include <string_view>

#include "base/status.h"

namespace CLI {
class App;
}

namespace nereid::cli {

// What a user may rely on: 0 done; 1 the work failed; 2 the command line or an input is wrong.
enum ExitCode : int { kDone = 0, kFailed = 1, kWrongInput = 2, kInterrupted = 130 };

// The exit code of an error: wrong input and unsupported models are 2, the rest 1.
ExitCode exit_code(const Status& status);
// Prints "nereid: <sentence>" to stderr (control characters escaped) and gives the exit code.
ExitCode fail(const Status& status);

struct Command {
  std::string_view name;
  std::string_view summary;  // one line for `nereid --help`
  // Declares options on `app` and gives the function that runs them once they are parsed.
  int (*run)(std::span<const char* const> args);  // without "nereid" and the command's name
};

std::span<const Command> command_table();

}  // namespace nereid::cli
