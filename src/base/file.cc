// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace nereid {
namespace {

FileInfo to_info(const struct stat& s) {
  FileInfo info;
  info.size = s.st_size;
  info.mtime_ns = int64_t{s.st_mtim.tv_sec} * 1'000'000'000 + s.st_mtim.tv_nsec;
  info.device = s.st_dev;
  info.inode = s.st_ino;
  info.permissions = s.st_mode & 0777;
  info.is_directory = S_ISDIR(s.st_mode);
  info.is_regular = S_ISREG(s.st_mode);
  return info;
}

StatusCode code_of(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return StatusCode::kNotFound;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return StatusCode::kExhausted;
    default:
      return StatusCode::kInvalidArgument;
  }
}

// mkdir -p with mode 0700 for what is new.
Status make_directories(const std::string& path) {
  if (const auto there = file_info(path); there.is_ok() && there->is_directory) return {};
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) return file_error(errno, "make the folder", part);
    if (end == std::string::npos) break;
  }
  NEREID_TRY(const FileInfo info, file_info(path));
  if (!info.is_directory) return invalid_argument("expected '{}' to be a folder, but it is a file", path);
  return {};
}

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

Status file_error(int error_number, std::string_view action, std::string_view path) {
  return error(code_of(error_number), "could not {} '{}': {}", action, path, std::strerror(error_number));
}

Result<FileInfo> file_info(const std::string& path) {
  struct stat s;
  if (::stat(path.c_str(), &s) != 0) return file_error(errno, "look at", path);
  return to_info(s);
}

Result<OpenedFile> open_regular_file(const std::string& path) {
  // A path from a command line or a request never has a zero byte; one from a hostile file may.
  if (path.find('\0') != std::string::npos) return invalid_argument("a file name contains a zero byte");
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return file_error(errno, "open", path);
  struct stat s;
  if (::fstat(fd.get(), &s) != 0) return file_error(errno, "look at", path);
  const FileInfo info = to_info(s);
  if (info.is_directory) return invalid_argument("expected '{}' to be a file, but it is a folder", path);
  if (!info.is_regular)
    return invalid_argument("expected '{}' to be a regular file, but it is a device or a pipe", path);
  return OpenedFile{std::move(fd), info};
}

Result<std::string> read_file(const std::string& path, size_t max_bytes) {
  NEREID_TRY(const OpenedFile opened, open_regular_file(path));
  const auto announced = static_cast<size_t>(opened.info.size);
  if (announced > max_bytes)
    return invalid_argument("'{}' is {} bytes long; expected at most {}", path, announced, max_bytes);
  // One byte more than announced, so that the usual file ends with the first short read.
  std::string text(std::max<size_t>(announced + 1, 4096), '\0');
  size_t filled = 0;
  while (true) {
    if (filled == text.size()) text.resize(text.size() * 2);
    const ssize_t got = ::read(opened.fd.get(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error(errno, "read", path);
    if (got == 0) break;
    filled += static_cast<size_t>(got);
    if (filled > max_bytes)
      return invalid_argument("'{}' is longer than the {} bytes that are expected at most", path, max_bytes);
  }
  text.resize(filled);
  return text;
}

Result<std::string> cache_dir() {
  std::string dir(environment("NEREID_CACHE_DIR"));
  if (dir.empty()) {
    const std::string_view xdg = environment("XDG_CACHE_HOME");
    const std::string_view home = environment("HOME");
    if (xdg.starts_with('/'))
      dir = fmt::format("{}/nereid", xdg);
    else if (!home.empty())
      dir = fmt::format("{}/.cache/nereid", home);
    else
      return not_found("there is no folder for cached files: set NEREID_CACHE_DIR, XDG_CACHE_HOME or HOME");
  }
  NEREID_RETURN_IF_ERROR(make_directories(dir).with("preparing the cache folder"));
  return dir;
}

}  // namespace nereid
