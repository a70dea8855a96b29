// SPDX-License-Identifier: Apache-2.0
#include "server/trace/trace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/log.h"
#include "base/unique_fd.h"

namespace nereid::server::trace {
namespace {

constexpr size_t kMostWaiting = 1 << 20;           // bytes, of what goes into one file
constexpr size_t kMostOfFile = 64 * kMostWaiting;  // of a file of its own, which then has fewer traces

void warn(const Status& status) {
  warn_once("trace_file", "traces are lost: {}", status.message());
}

Status append_to(const std::string& path, std::string_view text, bool is_new) {
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (is_new ? O_TRUNC : O_APPEND);
  const UniqueFd fd(::open(path.c_str(), flags, 0644));
  if (!fd) return file_error(errno, "open", path);
  while (!text.empty()) {
    const ssize_t n = ::write(fd.get(), text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return file_error(errno, "write", path);
    text.remove_prefix(static_cast<size_t>(n));
  }
  return Status::ok();
}

Status write_whole(const std::string& path, std::string_view members) {
  NEREID_TRY(AtomicFile file, AtomicFile::create(path));
  NEREID_RETURN_IF_ERROR(file.write("["));
  NEREID_RETURN_IF_ERROR(file.write(members));
  NEREID_RETURN_IF_ERROR(file.write("]"));
  return file.commit();
}

}  // namespace

TraceFile::~TraceFile() {
  if (!has_begun_) return;
  if (const Status status = append_to(path_, "]", false); !status.is_ok()) warn(status);
}

void TraceFile::append(std::string_view members) {
  if (path_.empty()) return;
  const std::lock_guard lock(mutex_);
  const Status status = append_to(path_, (has_begun_ ? "," : "[") + std::string(members), !has_begun_);
  if (!status.is_ok()) return warn(status);
  has_begun_ = true;
}

void TraceFile::write_numbered(std::string_view members) {
  if (path_.empty()) return;
  const std::lock_guard lock(mutex_);
  const Status status = write_whole(path_ + "." + std::to_string(next_++), members);
  if (!status.is_ok()) warn(status);
}

TraceCollector::~TraceCollector() {
  if (!waiting_.empty()) file_->append(waiting_);
}

void TraceCollector::add(std::string_view members) {
  std::string whole;
  const bool is_numbered = log_frequency_ != 0;
  {
    const std::lock_guard lock(mutex_);
    if (!waiting_.empty()) waiting_ += ',';
    waiting_ += members;
    ++count_;
    const bool is_full =
        is_numbered ? count_ >= log_frequency_ || waiting_.size() >= kMostOfFile : waiting_.size() >= kMostWaiting;
    if (!is_full) return;
    whole.swap(waiting_);
    count_ = 0;
  }
  is_numbered ? file_->write_numbered(whole) : file_->append(whole);
}

}  // namespace nereid::server::trace
