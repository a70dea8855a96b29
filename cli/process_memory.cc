// SPDX-License-Identifier: Apache-2.0
#include "cli/process_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>

#include "base/file.h"
#include "base/unique_fd.h"

namespace nereid::cli {
namespace {

// The bytes of a line "VmRSS:	    1234 kB".
int64_t field(std::string_view status, std::string_view name) {
  size_t at = status.find(name);
  while (at != std::string_view::npos && at != 0 && status[at - 1] != '\n') at = status.find(name, at + 1);
  if (at == std::string_view::npos) return 0;
  at = status.find_first_not_of(" \t", at + name.size());
  int64_t kib = 0;
  if (at != std::string_view::npos) std::from_chars(status.data() + at, status.data() + status.size(), kib);
  return kib * 1024;
}

}  // namespace

ProcessMemory parse_process_memory(std::string_view status) {
  return {.resident_bytes = field(status, "VmRSS:"), .peak_bytes = field(status, "VmHWM:")};
}

ProcessMemory process_memory() {
  const Result<std::string> status = read_file("/proc/self/status", 1 << 16);
  return status.is_ok() ? parse_process_memory(*status) : ProcessMemory{};
}

void reset_peak_memory() {
  const UniqueFd fd(::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC));
  constexpr char kResetPeak = '5';
  if (fd) [[maybe_unused]]
    const ssize_t ignored = ::write(fd.get(), &kResetPeak, 1);
}

}  // namespace nereid::cli
