// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/thought_form.h"

#include <fmt/format.h>

#include "base/json.h"
#include "server/protocol/openai/json_text.h"

namespace nereid::server::openai {
namespace {

using sample::GrammarKind;

std::string as_json(std::string_view text) {
  std::string out;
  append_json_string(&out, text);
  return out;
}

// The form as an element of a structural tag. A schema's text goes on as it is: the order of its members counts.
std::string element_of(const sample::GrammarSpec& form) {
  switch (form.kind) {
    case GrammarKind::kJsonSchema:
      return fmt::format(R"({{"type":"json_schema","json_schema":{}}})", form.text);
    case GrammarKind::kRegex:
      return fmt::format(R"({{"type":"regex","pattern":{}}})", as_json(form.text));
    case GrammarKind::kEbnf:
      return fmt::format(R"({{"type":"grammar","grammar":{}}})", as_json(form.text));
    case GrammarKind::kChoice: {
      std::string choices;
      const Result<Json> texts = parse_json(form.text);
      for (size_t i = 0; texts.is_ok() && texts->is_array() && i < texts->size(); ++i) {
        const auto* text = (*texts)[i].get_ptr<const std::string*>();
        if (text) choices += fmt::format(R"({}{{"type":"const_string","value":{}}})", i > 0 ? "," : "", as_json(*text));
      }
      return fmt::format(R"({{"type":"or","elements":[{}]}})", choices);
    }
    default:
      return R"({"type":"json_schema","json_schema":{"type":"object"}})";
  }
}

}  // namespace

bool binds_whole_answer(const sample::GrammarSpec& form) {
  return form.kind != GrammarKind::kNone && form.kind != GrammarKind::kStructuralTag;
}

sample::GrammarSpec form_after_thoughts(const sample::GrammarSpec& form, const ThoughtFormat& thoughts) {
  // A few line ends, as models put them there.
  return {GrammarKind::kStructuralTag,
          fmt::format(R"({{"type":"structural_tag","format":{{"type":"sequence","elements":[)"
                      R"({{"type":"tag","begin":"","content":{{"type":"any_text"}},"end":{}}},)"
                      R"({{"type":"regex","pattern":"[ \\n]{{0,4}}"}},{}]}}}})",
                      as_json(thoughts.end), element_of(form))};
}

}  // namespace nereid::server::openai
