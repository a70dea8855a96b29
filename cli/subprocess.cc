// SPDX-License-Identifier: Apache-2.0
#include "cli/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <map>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/unique_fd.h"

extern char** environ;

namespace nereid::cli {
namespace {

constexpr int kTickMs = 100;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> merged_environment(const std::vector<std::pair<std::string, std::string>>& added) {
  std::map<std::string, std::string> all;
  for (char** e = environ; *e; ++e) {
    const std::string_view one = *e;
    const size_t at = one.find('=');
    if (at != std::string_view::npos) all[std::string(one.substr(0, at))] = one.substr(at + 1);
  }
  for (const auto& [key, value] : added) all[key] = value;
  std::vector<std::string> out;
  for (const auto& [key, value] : all) out.push_back(key + "=" + value);
  return out;
}

struct Child {
  pid_t pid = 0;
  UniqueFd output;
};

Result<Child> spawn(const ProcessOptions& options) {
  int pipe_fds[2];
  if (::pipe2(pipe_fds, O_CLOEXEC) != 0) return exhausted("no pipe could be made: {}", std::strerror(errno));
  UniqueFd read_end(pipe_fds[0]), write_end(pipe_fds[1]);

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), 1);
  ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), 2);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  std::vector<std::string> arguments = options.argv;
  std::vector<std::string> environment = merged_environment(options.environment);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, arguments.front().c_str(), &actions, &attributes, pointers(arguments).data(),
                                   pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error == ENOENT || error == EACCES || error == ENOTDIR)
    return not_found("the program '{}' is not on this machine", options.argv.front());
  if (error != 0) return exhausted("'{}' could not be started: {}", options.argv.front(), std::strerror(error));
  return Child{.pid = pid, .output = std::move(read_end)};
}

// Reads what is there; false at the end of the output.
bool read_some(int fd, size_t most, std::string& output) {
  char bytes[4096];
  const ssize_t n = ::read(fd, bytes, sizeof(bytes));
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  output.append(bytes, static_cast<size_t>(n));
  if (output.size() > 2 * most) output.erase(0, output.size() - most);
  return n > 0;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Result<ProcessResult> run_process(const ProcessOptions& options) {
  NEREID_TRY(Child child, spawn(options));
  ProcessResult result;
  const int64_t start = now_ns();
  Status stopped;
  for (bool open = true; open;) {
    pollfd waiting = {.fd = child.output.get(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, kTickMs);
    if (ready > 0) open = read_some(child.output.get(), options.max_output, result.output);
    if (ready <= 0 && options.tick) options.tick();
    if (interrupted()) stopped = check_interrupted();
    if (options.timeout_ms > 0 && now_ns() - start > options.timeout_ms * 1000000)
      stopped = unavailable("'{}' did not end within {} ms", options.argv.front(), options.timeout_ms);
    if (!stopped.is_ok()) {
      ::kill(-child.pid, SIGKILL);
      break;
    }
  }
  result.exit_code = wait_for(child.pid);
  NEREID_RETURN_IF_ERROR(stopped);
  if (result.output.size() > options.max_output) result.output.erase(0, result.output.size() - options.max_output);
  return result;
}

}  // namespace nereid::cli
