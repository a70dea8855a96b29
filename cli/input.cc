// SPDX-License-Identifier: Apache-2.0
#include "cli/input.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/interrupt.h"

namespace nereid::cli {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 30;

Result<std::string> read_stdin() {
  std::string text;
  char part[65536];
  while (true) {
    NEREID_RETURN_IF_ERROR(check_interrupted());
    pollfd readable{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (::poll(&readable, 1, kLookAgainMs) <= 0) continue;
    const ssize_t n = ::read(STDIN_FILENO, part, sizeof(part));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return file_error(errno, "read", "the standard input");
    if (n == 0) return text;
    text.append(part, static_cast<size_t>(n));
    if (text.size() > kMaxBytes) return invalid_argument("the standard input is longer than {} bytes", kMaxBytes);
  }
}

}  // namespace

Result<std::string> read_input(const std::string& path, std::string_view what) {
  return (path == "-" ? read_stdin() : read_file(path, kMaxBytes)).with(what);
}

}  // namespace nereid::cli
