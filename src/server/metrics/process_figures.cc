// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/process_figures.h"

#include <sys/resource.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>

namespace nereid::server::metrics {
namespace {

double cpu_seconds() {
  rusage usage = {};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// The second number of /proc/self/statm, in pages (proc(5)).
double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  double size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double open_files() {
  std::error_code error;
  int64_t count = 0;
  for (auto it = std::filesystem::directory_iterator("/proc/self/fd", error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error))
    ++count;
  return static_cast<double>(count);
}

double max_files() {
  rlimit limit = {};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<double>(limit.rlim_cur) : 0;
}

}  // namespace

void add_process_metrics(Registry& registry) {
  registry.ask(Metric::kCpuSeconds, {}, cpu_seconds);
  registry.ask(Metric::kResidentBytes, {}, resident_bytes);
  registry.ask(Metric::kOpenFiles, {}, open_files);
  registry.ask(Metric::kMaxFiles, {}, max_files);
  const auto began_s = static_cast<double>(std::time(nullptr));
  registry.ask(Metric::kStartTime, {}, [began_s] { return began_s; });
}

}  // namespace nereid::server::metrics
