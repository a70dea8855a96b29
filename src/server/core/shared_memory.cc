// SPDX-License-Identifier: Apache-2.0
#include "server/core/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace nereid::server {

Status SharedMemory::check_allowed() const {
  if (is_allowed_) return Status::ok();
  return unsupported("Client shared memory is disabled. Start the server with '--allow-client-shm=true' to enable.");
}

Status SharedMemory::add(const SharedRegion& region) {
  NEREID_RETURN_IF_ERROR(check_allowed());
  const std::lock_guard lock(mutex_);
  if (regions_.contains(region.name))
    return invalid_argument("shared memory region '{}' already in manager", region.name);
  if (region.bytes == 0)
    return invalid_argument("the shared memory region '{}' has no bytes; give its byte_size", region.name);
  // Objects of the kind alone, never a file by its path.
  if (region.key.find('/', 1) != region.key.npos || region.key.size() > 255)
    return invalid_argument("'{}' is no key of shared memory; it has no '/' but its first character", region.key);
  auto fd = std::make_shared<const UniqueFd>(::shm_open(region.key.c_str(), O_RDWR | O_CLOEXEC, 0));
  struct stat s = {};
  if (!*fd || ::fstat(fd->get(), &s) != 0 || !S_ISREG(s.st_mode))
    return internal("Unable to open shared memory region: '{}'", region.key);
  const auto size = static_cast<uint64_t>(s.st_size);
  if (region.offset > size || region.bytes > size - region.offset)
    return invalid_argument(
        "failed to register shared memory region '{}': invalid args: it is to have {} bytes from {} on, but '{}' has "
        "{}",
        region.name, region.bytes, region.offset, region.key, size);
  regions_.emplace(region.name, Opened{region, std::move(fd)});
  return Status::ok();
}

Status SharedMemory::remove(const std::string& name) {
  NEREID_RETURN_IF_ERROR(check_allowed());
  const std::lock_guard lock(mutex_);
  regions_.erase(name);
  return Status::ok();
}

Status SharedMemory::remove_all() {
  NEREID_RETURN_IF_ERROR(check_allowed());
  const std::lock_guard lock(mutex_);
  regions_.clear();
  return Status::ok();
}

Result<std::vector<SharedRegion>> SharedMemory::list(const std::string& name) const {
  std::vector<SharedRegion> out;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, mapped] : regions_)
    if (name.empty() || key == name) out.push_back(mapped.region);
  if (out.empty() && !name.empty()) return not_found("Unable to find system shared memory region: '{}'", name);
  return out;
}

Result<SharedMemory::Opened> SharedMemory::find(const std::string& name, uint64_t offset, uint64_t bytes) const {
  NEREID_RETURN_IF_ERROR(check_allowed());
  const std::lock_guard lock(mutex_);
  const auto it = regions_.find(name);
  if (it == regions_.end()) return not_found("Unable to find shared memory region: '{}'", name);
  const uint64_t size = it->second.region.bytes;
  if (offset > size) return invalid_argument("Invalid offset for shared memory region: '{}'", name);
  if (bytes > size - offset) return invalid_argument("Invalid offset + byte size for shared memory region: '{}'", name);
  return it->second;
}

Result<std::string> SharedMemory::read(const std::string& name, uint64_t offset, uint64_t bytes) const {
  NEREID_TRY(const Opened opened, find(name, offset, bytes));
  std::string out(bytes, '\0');
  for (uint64_t at = 0; at < bytes;) {
    const ssize_t n =
        ::pread(opened.fd->get(), out.data() + at, bytes - at, static_cast<off_t>(opened.region.offset + offset + at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return invalid_argument("the shared memory region '{}' has become smaller than it was", name);
    at += static_cast<uint64_t>(n);
  }
  return out;
}

Status SharedMemory::write(const std::string& name, uint64_t offset, std::span<const std::byte> bytes) const {
  NEREID_TRY(const Opened opened, find(name, offset, bytes.size()));
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::pwrite(opened.fd->get(), bytes.data() + at, bytes.size() - at,
                               static_cast<off_t>(opened.region.offset + offset + at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return invalid_argument("the shared memory region '{}' cannot be written to", name);
    at += static_cast<size_t>(n);
  }
  return Status::ok();
}

}  // namespace nereid::server
