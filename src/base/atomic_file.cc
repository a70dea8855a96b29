// SPDX-License-Identifier: Apache-2.0
#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "base/file.h"

namespace nereid {
namespace {

// Linux writes at most about 2 GiB a call; this also bounds how long a write cannot be interrupted.
constexpr size_t kMaxWriteBytes = size_t{64} << 20;

// The file that a path means once links are followed; the path itself when there is no such file yet.
std::string resolved(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  return real ? std::string(real.get()) : path;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Unique among processes by the pid and among threads by the count; O_EXCL catches what a crash left with that name.
std::string temp_name(const std::string& path) {
  static std::atomic<unsigned> count{0};
  const size_t slash = path.rfind('/');
  const std::string_view name = std::string_view(path).substr(slash == std::string::npos ? 0 : slash + 1);
  return fmt::format("{}/.{}.{}-{}.tmp", folder_of(path), name.substr(0, 200), ::getpid(), count.fetch_add(1));
}

Status sync_folder(const std::string& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return file_error(errno, "open the folder", folder);
  // Some network file systems cannot sync a folder and say EINVAL; the rename itself has still been done.
  if (::fsync(fd.get()) != 0 && errno != EINVAL) return file_error(errno, "sync the folder", folder);
  return {};
}

}  // namespace

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos)
    return invalid_argument("expected the name of a file to write, found an empty one or one with a zero byte");
  AtomicFile file;
  file.path_ = resolved(path);
  mode_t mode = 0666;  // less the umask
  bool replaces = false;
  if (const auto old = file_info(file.path_); old.is_ok()) {
    if (old->is_directory) return invalid_argument("could not write '{}': it is a folder", path);
    if (!old->is_regular) return invalid_argument("could not write '{}': it is a device or a pipe", path);
    mode = old->permissions;
    replaces = true;
  }
  for (int attempt = 0; attempt < 100 && !file.fd_; ++attempt) {
    TempPath temp(temp_name(file.path_));  // before the file exists, so that no signal falls in between
    file.fd_ = UniqueFd(::open(temp.path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (file.fd_)
      file.temp_ = std::move(temp);
    else if (errno != EEXIST)
      return file_error(errno, "create a file beside", path);
  }
  if (!file.fd_) return unavailable("could not find a free temporary name beside '{}' in 100 attempts", path);
  if (replaces) (void)::fchmod(file.fd_.get(), mode);  // the umask may have taken bits away
  return file;
}

AtomicFile::~AtomicFile() {
  if (!temp_.path().empty()) ::unlink(temp_.path().c_str());
}

Status AtomicFile::write(std::span<const std::byte> bytes) {
  NEREID_RETURN_IF_ERROR(write_fully(size_, bytes));
  size_ += static_cast<int64_t>(bytes.size());
  return {};
}

Status AtomicFile::write_at(int64_t offset, std::span<const std::byte> bytes) {
  return write_fully(offset, bytes);
}

Status AtomicFile::write_fully(int64_t offset, std::span<const std::byte> bytes) {
  NEREID_CHECK(fd_);
  while (!bytes.empty()) {
    const size_t want = std::min(bytes.size(), kMaxWriteBytes);
    const ssize_t wrote = ::pwrite(fd_.get(), bytes.data(), want, offset);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return file_error(errno, fmt::format("write {} bytes at byte {} of", bytes.size(), offset), path_);
    bytes = bytes.subspan(static_cast<size_t>(wrote));
    offset += wrote;
  }
  return {};
}

Status AtomicFile::commit() {
  NEREID_CHECK(fd_);
  // Network file systems report a full disk only here.
  if (::fsync(fd_.get()) != 0) return file_error(errno, fmt::format("store the {} bytes of", size_), path_);
  if (::rename(temp_.path().c_str(), path_.c_str()) != 0) return file_error(errno, "put the finished file at", path_);
  temp_.release();
  fd_ = UniqueFd();
  return sync_folder(folder_of(path_));
}

}  // namespace nereid
