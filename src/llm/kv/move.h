// SPDX-License-Identifier: Apache-2.0
// Names of pages and sequences, and the moves of their contents that the accounting asks for.
#pragma once

#include <cstdint>

namespace nereid::kv {

// A page of the model's caches (of every layer at once): the first dimension of their states.
struct PageId {
  int32_t v = -1;
  auto operator<=>(const PageId&) const = default;
};

// A place in host memory that holds one page's contents.
struct HostPageId {
  int32_t v = -1;
  auto operator<=>(const HostPageId&) const = default;
};

// A row of the model's page_table; below CacheOptions::sequences, used again after close().
struct SequenceId {
  int32_t v = -1;
  auto operator<=>(const SequenceId&) const = default;
};

// Moves are carried out in the order in which they were asked for, all of them before the next step's tokens are run:
// a later one may overwrite what an earlier one has read.
enum class MoveKind : uint8_t {
  kCopy,     // the first `tokens` tokens of page src to the same places of page dst
  kOffload,  // the whole of page src to host place dst
  kRestore,  // the whole of host place src to page dst
};

struct Move {
  MoveKind kind = MoveKind::kCopy;
  int32_t src = 0;
  int32_t dst = 0;
  int32_t tokens = 0;
  bool operator==(const Move&) const = default;
};

}  // namespace nereid::kv
