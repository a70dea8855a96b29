// SPDX-License-Identifier: Apache-2.0
// Bounds that keep the compilation of a grammar short and small, whoever wrote it; checked before anything is compiled.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/status.h"
#include "llm/sample/grammar_spec.h"

namespace nereid::sample {

constexpr size_t kMaxGrammarBytes = size_t{128} << 10;
constexpr int kMaxGrammarDepth = 64;         // nested groups of a pattern, nested values of a schema
constexpr int64_t kMaxRepetition = 10'000;   // one {n,m}, minItems, maxLength, ...
constexpr int64_t kMaxPatternSize = 50'000;  // elements of a pattern with its repetitions written out
constexpr size_t kMaxPatternBytes = size_t{16} << 10;
constexpr int64_t kMaxPatternOptions = 200;  // places where a pattern (or a rule) may go on or not
constexpr int64_t kMaxPatternLoops = 50;     // of these, without a bound: each step of a matcher looks at all of them
constexpr size_t kMaxSchemaNodes = 10'000;   // objects, arrays and values of a schema
constexpr size_t kMaxChoices = 2'000;

// kInvalidArgument, with what was found, what is allowed and what to do.
Status check_grammar(const GrammarSpec& spec);
// A regular expression: UTF-8, length, nesting, repetitions, ways to go on.
Status check_pattern(std::string_view what, std::string_view pattern);
bool is_utf8(std::string_view text);

}  // namespace nereid::sample
