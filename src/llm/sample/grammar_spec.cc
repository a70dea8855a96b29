// SPDX-License-Identifier: Apache-2.0
// Names of the kinds of grammar.
#include "llm/sample/grammar_spec.h"

#include <algorithm>
#include <array>

#include "base/json.h"

namespace nereid::sample {
namespace {

constexpr std::array<std::string_view, 7> kNames = {"none", "json",   "json_schema",   "regex",
                                                    "ebnf", "choice", "structural_tag"};

}  // namespace

std::string_view grammar_kind_name(GrammarKind kind) {
  return kNames[static_cast<size_t>(kind)];
}

Result<GrammarKind> grammar_kind_of(std::string_view name) {
  const auto* found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) {
    return not_found(
        "there is no kind of grammar named '{}'; the kinds are none, json, json_schema, regex, ebnf, choice and "
        "structural_tag.",
        name);
  }
  return static_cast<GrammarKind>(found - kNames.begin());
}

GrammarSpec choice_of(std::span<const std::string> texts) {
  Json array = Json::array();
  for (const std::string& text : texts) array.push_back(text);
  return {GrammarKind::kChoice, array.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

}  // namespace nereid::sample
