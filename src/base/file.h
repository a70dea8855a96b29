// SPDX-License-Identifier: Apache-2.0
// Reading small files whole, and what the system says about a file. (Large ones: mapped_file.h; writing:
// atomic_file.h.)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/unique_fd.h"

namespace nereid {

struct FileInfo {
  int64_t size = 0;      // bytes
  int64_t mtime_ns = 0;  // last change of the content, since 1970
  uint64_t device = 0;   // (device, inode) names a file whatever its path
  uint64_t inode = 0;
  uint32_t permissions = 0;  // rwxrwxrwx
  bool is_directory = false;
  bool is_regular = false;
  bool operator==(const FileInfo&) const = default;
};

// Follows links. kNotFound when absent, kInvalidArgument when the path may not be looked at.
Result<FileInfo> file_info(const std::string& path);

struct OpenedFile {
  UniqueFd fd;
  FileInfo info;
};
// Opens a regular file for reading; anything else (absent, folder, pipe, device, no permission) is a sentence.
// Never blocks, not even on a pipe that nobody writes.
Result<OpenedFile> open_regular_file(const std::string& path);

// The whole content. kInvalidArgument when it is longer than `max_bytes`: memory stays bounded even when the file grows
// while it is read. Also reads what has no size in advance (/proc, /sys), but nothing that is not a regular file.
Result<std::string> read_file(const std::string& path, size_t max_bytes);

// Where derived files are kept: $NEREID_CACHE_DIR, else $XDG_CACHE_HOME/nereid, else $HOME/.cache/nereid.
// Made (with its parents, mode 0700) when missing. A relative XDG_CACHE_HOME is ignored, as its standard asks.
Result<std::string> cache_dir();

// The status for a failed system call: "could not <action> '<path>': <reason>", with the code that fits `error_number`.
Status file_error(int error_number, std::string_view action, std::string_view path);

}  // namespace nereid
