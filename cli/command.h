// SPDX-License-Identifier: Apache-2.0
// A subcommand of `nereid`: its row in the table, and how it ends.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/status.h"

namespace nereid::cli {

class CommandLine;  // command_line.h

// What a user may rely on: 0 done; 1 the work failed; 2 the command line or an input is wrong.
enum ExitCode : int { kDone = 0, kFailed = 1, kWrongInput = 2, kInterrupted = 130 };

// The exit code of an error: wrong input, things that are not there and things that Nereid cannot do are 2, an
// interruption is 130, the rest 1.
ExitCode exit_code(const Status& status);
// Prints "nereid: error: <sentence>" to stderr (control characters shown as '?') and gives the exit code.
ExitCode fail(const Status& status);
// The same where the code does not follow from the status: a model that cannot be loaded is kFailed, whatever the
// reason. An interruption is kInterrupted all the same.
ExitCode fail(const Status& status, ExitCode code);

using Arguments = std::span<const char* const>;

// Parses the arguments after the command's name. Nothing: go on. Else the exit code to end with, --help (stdout, 0) or
// a wrong command line (a sentence, 2) having been printed.
std::optional<ExitCode> parse(CommandLine& app, Arguments args);

struct Command {
  std::string_view name;
  std::string_view summary;  // one line for `nereid --help`
  int (*run)(Arguments args);
};

std::span<const Command> command_table();

}  // namespace nereid::cli
