// SPDX-License-Identifier: Apache-2.0
// How commands parse their line and how they end.
#include "cli/command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "base/log.h"

namespace nereid::cli {
namespace {

// CLI11 speaks in fragments ("--threads: 1 required"); a sentence for the line that did not parse.
std::string sentence(const CLI::ParseError& e, const CLI::App& app) {
  std::string text = e.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return fmt::format("the command line is wrong: {}; `{} --help` tells the options", text, app.get_name());
}

}  // namespace

ExitCode exit_code(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return kDone;
    case StatusCode::kInvalidArgument:
    case StatusCode::kNotFound:
    case StatusCode::kUnsupported:
      return kWrongInput;
    case StatusCode::kCancelled:
      return kInterrupted;
    case StatusCode::kExhausted:
    case StatusCode::kUnavailable:
    case StatusCode::kInternal:
      return kFailed;
  }
  return kFailed;
}

ExitCode fail(const Status& status) {
  return fail(status, exit_code(status));
}

ExitCode fail(const Status& status, ExitCode code) {
  std::string_view text = status.message();
  while (text.ends_with('.')) text.remove_suffix(1);  // a line of the console has no end mark
  stderr_console().line(LogLevel::error, text);
  return status.code() == StatusCode::kCancelled ? kInterrupted : code;
}

std::optional<ExitCode> parse(CLI::App& app, Arguments args) {
  std::vector<std::string> reversed(args.rbegin(), args.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    std::string help = app.help();
    while (help.ends_with('\n')) help.pop_back();  // as many as CLI11 happens to add
    fmt::print("{}\n", help);
    return kDone;
  } catch (const CLI::ParseError& e) {
    return fail(invalid_argument("{}", sentence(e, app)));
  }
  return std::nullopt;
}

}  // namespace nereid::cli
