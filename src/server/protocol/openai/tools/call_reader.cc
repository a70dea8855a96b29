// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/tools/call_reader.h"

#include <algorithm>

namespace nereid::server::openai {

bool is_tool(const ToolNames& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(), [&](const ToolSignature& one) { return one.name == name; });
}

size_t held_for(std::string_view text, std::string_view mark) {
  for (size_t n = std::min(text.size(), mark.size() - 1); n > 0; --n)
    if (mark.starts_with(text.substr(text.size() - n))) return n;
  return 0;
}

void add_content(std::string_view text, ToolEvents* out) {
  if (!text.empty()) out->push_back({ToolEvent::Kind::kContent, std::string(text)});
}

void skip_spaces(std::string* pending) {
  pending->erase(0, std::min(pending->find_first_not_of(" \n\r\t"), pending->size()));
}

bool skip_end(std::string* pending, std::string_view mark) {
  skip_spaces(pending);
  if (pending->size() < mark.size() && mark.starts_with(*pending)) return false;
  if (pending->starts_with(mark)) pending->erase(0, mark.size());
  return true;
}

bool ContentReader::read(std::string* pending, ToolEvents* out) {
  if (skips_space_) {
    skip_spaces(pending);
    if (pending->empty()) return false;
    skips_space_ = false;
  }
  const size_t at = pending->find(mark_);
  const bool is_found = at != std::string::npos;
  size_t certain = is_found ? at : pending->size() - held_for(*pending, mark_);
  while (certain > 0 && is_space((*pending)[certain - 1])) --certain;
  add_content(std::string_view(*pending).substr(0, certain), out);
  if (is_found) dropped_ = pending->substr(certain, at - certain);
  pending->erase(0, is_found ? at + mark_.size() : certain);
  return is_found;
}

void ContentReader::finish(std::string* pending, ToolEvents* out) {
  if (skips_space_) skip_spaces(pending);
  add_content(*pending, out);
  pending->clear();
}

void CallReader::tell(ToolEvents* out) {
  if (!call_.has_name()) return;
  if (!has_begun_) {
    if (!is_tool(names_, call_.name())) {
      is_foreign_ = true;
      return;
    }
    has_begun_ = true;
    taken_.clear();
    out->push_back({ToolEvent::Kind::kCall, call_.name()});
  }
  std::string piece = call_.take_arguments();
  if (call_.state() == State::kDone && !call_.has_arguments()) piece = "{}";
  if (!piece.empty()) out->push_back({ToolEvent::Kind::kArguments, std::move(piece)});
}

CallReader::State CallReader::read(std::string* pending, ToolEvents* out) {
  size_t used = 0;
  while (used < pending->size() && call_.state() == State::kOpen) {
    call_.push((*pending)[used]);
    if (call_.state() != State::kBroken) ++used;
  }
  if (!has_begun_) taken_.append(*pending, 0, used);
  pending->erase(0, used);
  tell(out);
  if (call_.state() == State::kDone && !has_begun_) is_foreign_ = true;
  return state();
}

bool ArgumentsReader::read(std::string* pending, ToolEvents* out) {
  size_t used = 0;
  if (!has_begun_) {
    used = std::min(pending->find_first_not_of(" \n\r\t"), pending->size());
    pending->erase(0, used);
    if (pending->empty()) return false;
    has_begun_ = true;
    if ((*pending)[0] != '{') {  // a call without arguments
      out->push_back({ToolEvent::Kind::kArguments, "{}"});
      return true;
    }
    used = 0;
  }
  bool is_end = false;
  while (used < pending->size() && !is_end) is_end = extent_.push((*pending)[used++]);
  if (used > 0) out->push_back({ToolEvent::Kind::kArguments, pending->substr(0, used)});
  pending->erase(0, used);
  return is_end;
}

}  // namespace nereid::server::openai
