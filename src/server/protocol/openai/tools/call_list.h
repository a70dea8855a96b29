// SPDX-License-Identifier: Apache-2.0
// An array of calls: [{"name": ..., "arguments": {...}}, ...].
#pragma once

#include <optional>

#include "server/protocol/openai/tools/call_reader.h"

namespace nereid::server::openai {

class CallList {
 public:
  enum class State : uint8_t { kOpen, kDone, kBroken };
  explicit CallList(const ToolNames& names) : names_(names) {}
  // Takes from the front of `pending`. kBroken: here is no list, or it goes on as none; taken() is what no event told.
  State read(std::string* pending, ToolEvents* out);
  const std::string& taken() const { return taken_; }

 private:
  enum class Place : uint8_t { kBegin, kItem, kNext };
  const ToolNames& names_;
  std::optional<CallReader> call_;
  Place place_ = Place::kBegin;
  State state_ = State::kOpen;
  std::string taken_;
};

}  // namespace nereid::server::openai
