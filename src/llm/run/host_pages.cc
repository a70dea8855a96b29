// SPDX-License-Identifier: Apache-2.0
#include "llm/run/host_pages.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/checksum.h"

namespace nereid::llm {
namespace {

// A file that no folder lists.
Result<UniqueFd> open_nameless(const std::string& folder) {
  UniqueFd fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd) return fd;
  if (errno == ENOENT || errno == ENOTDIR)
    return not_found("there is no folder '{}' for the pages that leave the cache; name one that exists", folder);
  // Some file systems have no such files: one that is removed at once will do.
  std::string name = folder + "/nereid-kv-XXXXXX";
  fd = UniqueFd(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd) return invalid_argument("no file can be made in the folder '{}': {}", folder, std::strerror(errno));
  ::unlink(name.c_str());
  return fd;
}

}  // namespace

Result<std::unique_ptr<HostPages>> HostPages::make(const std::string& folder, int64_t places, int64_t page_bytes) {
  std::error_code ignored;
  const std::string where = folder.empty() ? std::filesystem::temp_directory_path(ignored).string() : folder;
  int64_t bytes = 0;
  if (places < 1 || page_bytes < 1 || places > INT32_MAX || __builtin_mul_overflow(places, page_bytes, &bytes))
    return invalid_argument("{} pages of {} bytes cannot be kept outside the cache", places, page_bytes);
  NEREID_TRY(UniqueFd fd, open_nameless(where));
  int failed = 0;
  do failed = ::fallocate(fd.get(), 0, 0, bytes) == 0 ? 0 : errno;
  while (failed == EINTR);
  if (failed == EOPNOTSUPP) failed = ::ftruncate(fd.get(), bytes) == 0 ? 0 : errno;
  if (failed != 0)
    return exhausted("the {} bytes for pages that leave the cache cannot be had in '{}': {}", bytes, where,
                     std::strerror(failed));
  return std::unique_ptr<HostPages>(new HostPages(std::move(fd), places, page_bytes));
}

Status HostPages::write(int32_t place, std::span<const std::byte> page) {
  NEREID_CHECK(place >= 0 && place < places() && static_cast<int64_t>(page.size()) == page_bytes_);
  hashes_[static_cast<size_t>(place)] = xxhash64(page);
  int64_t at = place * page_bytes_;
  while (!page.empty()) {
    const ssize_t n = ::pwrite(fd_.get(), page.data(), page.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return internal("a page cannot be moved out of the cache: {}", std::strerror(n < 0 ? errno : EIO));
    page = page.subspan(static_cast<size_t>(n));
    at += n;
  }
  return Status::ok();
}

Status HostPages::read(int32_t place, std::span<std::byte> page) const {
  NEREID_CHECK(place >= 0 && place < places() && static_cast<int64_t>(page.size()) == page_bytes_);
  const std::span<std::byte> whole = page;
  int64_t at = place * page_bytes_;
  while (!page.empty()) {
    const ssize_t n = ::pread(fd_.get(), page.data(), page.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return internal("a page cannot be read back into the cache: {}", std::strerror(n < 0 ? errno : EIO));
    page = page.subspan(static_cast<size_t>(n));
    at += n;
  }
  if (xxhash64(whole) != hashes_[static_cast<size_t>(place)])
    return internal(
        "a page that had left the cache came back other than it was: the disk or another program changed it");
  return Status::ok();
}

}  // namespace nereid::llm
