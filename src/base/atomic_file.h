// SPDX-License-Identifier: Apache-2.0
// Writes a file so that a reader, a crash or Ctrl-C sees the old content or the new, never a part.
//
// Bytes go to a temporary file in the target's own folder; commit() makes them durable (fsync), gives them the final
// name (rename) and makes the name durable (fsync of the folder). Without commit() the destructor removes the
// temporary, and so does the interrupt handler (base/interrupt.h) when it ends the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/interrupt.h"
#include "base/status.h"
#include "base/unique_fd.h"

namespace nereid {

// Used by one thread at a time. After an error the object can only be destroyed.
// Errors: kExhausted (with path and bytes) when disk or quota are full, kNotFound when the folder is absent,
// kInvalidArgument otherwise.
class AtomicFile {
 public:
  // Replaces `path` when it exists (keeping its permissions); through a symbolic link, the file it points to.
  static Result<AtomicFile> create(const std::string& path);

  AtomicFile(AtomicFile&&) noexcept = default;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  // Appends. Any length; short writes are continued.
  Status write(std::span<const std::byte> bytes);
  Status write(std::string_view text) { return write(std::as_bytes(std::span(text))); }
  // Overwrites or fills ahead at `offset` (a header whose fields are known at the end); does not move the append
  // position.
  Status write_at(int64_t offset, std::span<const std::byte> bytes);
  // Bytes appended so far, which is where the next write() goes.
  int64_t size() const { return size_; }
  // The final name.
  const std::string& path() const { return path_; }

  Status commit();

 private:
  AtomicFile() = default;
  Status write_fully(int64_t offset, std::span<const std::byte> bytes);

  std::string path_;
  TempPath temp_;  // the temporary's name, known to the interrupt handler; empty after commit
  UniqueFd fd_;
  int64_t size_ = 0;
};

}  // namespace nereid
