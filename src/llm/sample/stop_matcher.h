// SPDX-License-Identifier: Apache-2.0
// Finds stop texts in a stream, however the stream is cut into pieces.
//
// Text that may yet turn out to be the start of a stop text is held back, all else is handed on at once. What is handed
// on is whole UTF-8 characters. The result does not depend on the pieces: the stop whose last byte comes first wins,
// and of several that end there the longest. Errors: none. One matcher a stream.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nereid::sample {

class StopMatcher {
 public:
  // Empty stops are ignored.
  explicit StopMatcher(std::vector<std::string> stops);

  // The text that is now certain. Once is_stopped() nothing more comes out.
  std::string push(std::string_view piece);
  // The stream has ended: what was held back; half a character becomes U+FFFD.
  std::string finish();

  bool is_stopped() const { return stop_ >= 0; }
  // Which of the stops it was; -1 while none.
  int stop_index() const { return stop_; }

 private:
  bool ends_with_stop();
  size_t held_bytes() const;

  std::vector<std::string> stops_;
  std::string pending_;  // not handed on yet
  int stop_ = -1;
};

// Bytes of an unfinished UTF-8 character at the end of the text: 0 to 3.
size_t unfinished_utf8(std::string_view text);

}  // namespace nereid::sample
