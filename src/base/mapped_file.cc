// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"

namespace nereid {

Result<MappedFile> MappedFile::open(const std::string& path) {
  NEREID_TRY(auto opened, open_regular_file(path));
  MappedFile file;
  file.path_ = path;
  if (opened.info.size == 0) return file;  // mmap refuses a length of zero
  const auto size = static_cast<size_t>(opened.info.size);
  void* data = mmap(nullptr, size, PROT_READ, MAP_SHARED, opened.fd.get(), 0);
  if (data == MAP_FAILED)
    return exhausted("could not map the {} bytes of '{}' into memory: {}", size, path, std::strerror(errno));
  file.data_ = data;
  file.size_ = size;
  return file;
}

MappedFile::~MappedFile() {
  if (data_) munmap(data_, size_);
}

void MappedFile::advise_sequential() const {
  if (data_) (void)madvise(data_, size_, MADV_SEQUENTIAL);
}

void MappedFile::will_need(size_t offset, size_t length) const {
  if (offset >= size_) return;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t end = offset + std::min(length, size_ - offset);
  const size_t begin = offset - offset % page;
  (void)madvise(static_cast<std::byte*>(data_) + begin, end - begin, MADV_WILLNEED);
}

}  // namespace nereid
