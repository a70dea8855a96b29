// SPDX-License-Identifier: Apache-2.0
// How commands end.
#include "cli/command.h"

#include <cstdio>

#include "base/log.h"

namespace nereid::cli {

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

}  // namespace nereid::cli
