// SPDX-License-Identifier: Apache-2.0
// What the text of an answer must look like: one kind, one text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace nereid::sample {

enum class GrammarKind : uint8_t {
  kNone,           // any text
  kJson,           // any JSON object; no text
  kJsonSchema,     // the schema, as JSON
  kRegex,          // a regular expression that the whole answer matches (ECMAScript's syntax)
  kEbnf,           // a grammar as llama.cpp's GBNF writes it, from its rule `root`
  kChoice,         // a JSON array of texts: the answer is one of them
  kStructuralTag,  // JSON: free text with constrained parts between tags, as OpenAI-compatible servers take it
};

// "none", "json", "json_schema", "regex", "ebnf", "choice", "structural_tag".
std::string_view grammar_kind_name(GrammarKind kind);
// kNotFound for another name.
Result<GrammarKind> grammar_kind_of(std::string_view name);

struct GrammarSpec {
  GrammarKind kind = GrammarKind::kNone;
  std::string text;

  bool is_none() const { return kind == GrammarKind::kNone; }
  friend bool operator==(const GrammarSpec&, const GrammarSpec&) = default;
};

// A kChoice of these texts.
GrammarSpec choice_of(std::span<const std::string> texts);

}  // namespace nereid::sample
