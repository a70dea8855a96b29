// SPDX-License-Identifier: Apache-2.0
// The pre-tokenizer steps of a spec, made ready to run: a segment of text in, the words that the model sees out.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "llm/token/native_split.h"
#include "llm/token/pattern.h"
#include "llm/token/tokenizer_spec.h"

namespace nereid::token {

class Splitter {
 public:
  // The memory of one encode() call. Words point into the text given or into `owned`.
  struct Scratch {
    std::vector<std::string_view> words;  // the result
    std::vector<std::string_view> previous;
    std::deque<std::string> owned;
    std::vector<std::optional<Pattern::Matcher>> matchers;  // by step
  };

  // `text_is_mapped`: the normalizer has turned bytes into stand-in characters already.
  static Result<Splitter> make(const std::vector<SplitStep>& steps, bool text_is_mapped);

  // Fills scratch.words with the words of `text` (valid UTF-8, alive as long as they are). `first` is whether the
  // segment starts the whole text. A failed pattern (kExhausted) leaves the words unspecified.
  Status run(std::string_view text, bool first, Scratch& scratch) const;

 private:
  struct Step {
    SplitStep spec;
    std::shared_ptr<const Pattern> pattern;  // steps with a regex
    NativeSplit native = nullptr;            // its hand-written equal, if there is one
  };
  Status apply(size_t step, bool first, bool last, Scratch& scratch) const;
  Status split_regex(size_t step, SplitBehavior behavior, Scratch& scratch) const;

  std::vector<Step> steps_;
  bool text_is_mapped_ = false;
};

}  // namespace nereid::token
