// SPDX-License-Identifier: Apache-2.0
// Looks for the longest end of the text that stood before.
#include "llm/sample/draft.h"

#include <algorithm>

namespace nereid::sample {

void look_up_draft(std::span<const int32_t> history, const LookupOptions& options, std::vector<int32_t>* draft) {
  draft->clear();
  if (options.window > 0 && history.size() > static_cast<size_t>(options.window))
    history = history.last(static_cast<size_t>(options.window));
  const size_t n = history.size();
  if (n < 2 || options.tokens <= 0 || options.ngram <= 0) return;
  // The longest end wins, of equally long ones the latest.
  size_t longest = 0;
  size_t place = 0;  // of the token after it
  for (size_t end = n - 1; end > 0 && longest < static_cast<size_t>(options.ngram); --end) {
    size_t length = 0;
    while (length < static_cast<size_t>(options.ngram) && length < end &&
           history[end - 1 - length] == history[n - 1 - length])
      ++length;
    if (length > longest) {
      longest = length;
      place = end;
    }
  }
  if (longest == 0) return;
  const size_t count = std::min(static_cast<size_t>(options.tokens), n - place);
  draft->assign(history.begin() + static_cast<std::ptrdiff_t>(place),
                history.begin() + static_cast<std::ptrdiff_t>(place + count));
}

}  // namespace nereid::sample
