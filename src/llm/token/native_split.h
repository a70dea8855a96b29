// SPDX-License-Identifier: Apache-2.0
// Hand-written equals of the commonest pre-tokenizer patterns, several times faster than the regex library.
//
// Each must split exactly as its regular expression does with SplitBehavior::kIsolated; native_split_test proves it on
// random text.
#pragma once

#include <string_view>
#include <vector>

namespace nereid::token {

// Appends the words of `text` (valid UTF-8, not empty). False, and `words` as before, if the text holds a character
// that the tables here do not know: the regex library, whose tables may be newer, shall then decide.
using NativeSplit = bool (*)(std::string_view text, std::vector<std::string_view>& words);

// The equal of `regex`, or nullptr if there is none.
NativeSplit find_native_split(std::string_view regex);

}  // namespace nereid::token
