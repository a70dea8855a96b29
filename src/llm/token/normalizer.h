// SPDX-License-Identifier: Apache-2.0
// The normalizer steps of a spec, made ready to run.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "llm/token/charsmap.h"
#include "llm/token/pattern.h"
#include "llm/token/tokenizer_spec.h"

namespace nereid::token {

inline constexpr std::string_view kMetaspaceUtf8 = "\xE2\x96\x81";  // U+2581, SentencePiece's space

class Normalizer {
 public:
  static Result<Normalizer> make(const std::vector<NormalizerStep>& steps);
  bool empty() const { return steps_.empty(); }

  // `text` is valid UTF-8. `prepend` is whether this segment gets the leading space that a kSentencePiece step with
  // prepend_space adds. Any number of threads.
  Result<std::string> run(std::string_view text, bool prepend) const;

 private:
  struct Step {
    NormalizerStep spec;
    Charsmap charsmap;
    std::shared_ptr<const Pattern> pattern;
  };
  static Result<std::string> apply(const Step& step, std::string_view text, bool prepend);
  std::vector<Step> steps_;
};

// `text` with every occurrence of `pattern` (not empty) replaced.
std::string replace_all(std::string_view text, std::string_view pattern, std::string_view content);

}  // namespace nereid::token
