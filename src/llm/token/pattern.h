// SPDX-License-Identifier: Apache-2.0
// Regular expressions of pre-tokenizers, by PCRE2 (JIT where there is one), with bounds on what a hostile one costs.
//
// The tokenizers were trained with Oniguruma's or Rust's dialect: `\s` and `\w` are made to mean what they mean there.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace nereid::token {

struct Span {
  size_t begin = 0, end = 0;
};

// Immutable after compile(); any number of threads may match, each with its own Matcher.
class Pattern {
 public:
  // kInvalidArgument with the regex library's own reason and position.
  static Result<Pattern> compile(std::string_view regex);

  class Matcher {
   public:
    explicit Matcher(const Pattern& pattern);
    ~Matcher();
    Matcher(Matcher&&) noexcept;
    // The next match at or after `from` in `text` (valid UTF-8). {npos, npos} if there is none; kExhausted if the
    // pattern needs more steps or memory than allowed.
    Result<Span> find(std::string_view text, size_t from);

   private:
    struct State;
    std::unique_ptr<State> state_;
  };

 private:
  struct Code;
  std::shared_ptr<const Code> code_;
};

// The regex with `\s`, `\S`, `\w` and `\W` spelled out as Unicode properties.
std::string to_pcre2(std::string_view regex);

}  // namespace nereid::token
