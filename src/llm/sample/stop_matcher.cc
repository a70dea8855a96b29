// SPDX-License-Identifier: Apache-2.0
// Byte by byte: few and short stops make anything cleverer slower.
#include "llm/sample/stop_matcher.h"

#include <algorithm>
#include <utility>

namespace nereid::sample {

size_t unfinished_utf8(std::string_view text) {
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    const size_t needed = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return needed > back ? back : 0;
  }
  return 0;
}

StopMatcher::StopMatcher(std::vector<std::string> stops) : stops_(std::move(stops)) {}

// Looks only at stops that end with the last byte of the pending text, and cuts the longest off.
bool StopMatcher::ends_with_stop() {
  size_t longest = 0;
  for (size_t i = 0; i < stops_.size(); ++i) {
    if (stops_[i].size() <= longest || !std::string_view(pending_).ends_with(stops_[i])) continue;
    longest = stops_[i].size();
    stop_ = static_cast<int>(i);
  }
  pending_.resize(pending_.size() - longest);
  return longest > 0;
}

// The longest end of the pending text with which a stop begins.
size_t StopMatcher::held_bytes() const {
  size_t held = 0;
  for (const std::string& stop : stops_) {
    for (size_t n = std::min(stop.empty() ? 0 : stop.size() - 1, pending_.size()); n > held; --n) {
      if (std::string_view(pending_).ends_with(std::string_view(stop).substr(0, n))) held = n;
    }
  }
  return held;
}

std::string StopMatcher::push(std::string_view piece) {
  if (is_stopped()) return {};
  if (stops_.empty()) {
    pending_.append(piece);
  } else {
    for (char byte : piece) {
      pending_.push_back(byte);
      if (ends_with_stop()) return std::exchange(pending_, {});
    }
  }
  size_t ready = pending_.size() - held_bytes();
  ready -= unfinished_utf8(std::string_view(pending_).substr(0, ready));
  std::string out = pending_.substr(0, ready);
  pending_.erase(0, ready);
  return out;
}

std::string StopMatcher::finish() {
  std::string out = std::exchange(pending_, {});
  if (const size_t cut = unfinished_utf8(out); cut > 0) out.replace(out.size() - cut, cut, "\xEF\xBF\xBD");
  return out;
}

}  // namespace nereid::sample
