// SPDX-License-Identifier: Apache-2.0
// Replacing and padding.
#include "llm/chat/text_edit.h"

#include <algorithm>

#include "llm/chat/utf8.h"

namespace nereid::chat {

void write_replaced(TextBuilder& out, std::string_view text, std::string_view old, std::string_view replacement,
                    int64_t count) {
  if (count < 0) count = INT64_MAX;
  size_t i = 0;
  if (old.empty()) {
    for (; i < text.size() && count > 0 && !out.heap().is_spent(); --count) {
      const size_t n = code_point_at(text, i).bytes;
      out.add(replacement).add(text.substr(i, n));
      i += n;
    }
    out.add(text.substr(i));
    if (i == text.size() && count > 0) out.add(replacement);
    return;
  }
  for (; count > 0 && !out.heap().is_spent(); --count) {
    const size_t at = text.find(old, i);
    if (at == std::string_view::npos) break;
    out.add(text.substr(i, at - i)).add(replacement);
    i = at + old.size();
  }
  out.add(text.substr(i));
}

Value pad_text(Heap& heap, const Value& text, int64_t width, std::string_view fill, int share) {
  const auto length = static_cast<int64_t>(count_code_points(text.as_text()));
  if (width <= length) return text;
  const int64_t missing = width - length;
  // Python's center puts the odd one left only when the width is odd too.
  const int64_t left = share == 0 ? 0 : share == 1 ? missing : missing / 2 + (missing & width & 1);
  TextBuilder out(heap);
  out.repeat(fill, static_cast<size_t>(left)).add(text.as_text()).repeat(fill, static_cast<size_t>(missing - left));
  return out.finish().marked(text.is_markup());
}

}  // namespace nereid::chat
