// SPDX-License-Identifier: Apache-2.0
// regex_full_match: which texts a pattern matches from their first to their last character.
//
// Patterns are PCRE2's, of which RE2's syntax is nearly a part. They differ in this: look-around, back references and
// possessive repeats are taken here and refused by RE2; \s knows the vertical tab here; \C is refused here. A pattern
// that takes more than ten million steps on a text is an error here, where RE2 is linear. As in RE2, $ is the end of
// the text alone, . is any character but the line feed, and texts that are no UTF-8 do not match where they are not.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <memory>
#include <string>

#include "ops/elements.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {{"pattern", AttrSpec::Kind::kString, "", "the regular expression, in RE2's syntax"}};
constexpr uint32_t kMostSteps = 10'000'000;

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  if (rule.type(0).dtype != DType::string) return invalid_argument("{} should be string", rule.describe(0));
  return std::vector<TensorType>{{DType::boolean, rule.shape(0)}};
}

DType dtype_of(const InferContext&, size_t) {
  return DType::boolean;
}

std::string message_of(int code) {
  PCRE2_UCHAR text[256] = {};
  pcre2_get_error_message(code, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

Status evaluate(const EvalContext& ctx) {
  const std::string& pattern = ctx.attrs.text("pattern");
  int code = 0;
  PCRE2_SIZE where = 0;
  const std::unique_ptr<pcre2_code, decltype(&pcre2_code_free)> regex(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                    PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ANCHORED | PCRE2_ENDANCHORED |
                        PCRE2_NEVER_BACKSLASH_C,
                    &code, &where, nullptr),
      pcre2_code_free);
  if (regex == nullptr)
    return invalid_argument("the pattern '{}' is no regular expression: {} at character {}", pattern, message_of(code),
                            where);
  const std::unique_ptr<pcre2_match_context, decltype(&pcre2_match_context_free)> limits(
      pcre2_match_context_create(nullptr), pcre2_match_context_free);
  pcre2_set_match_limit(limits.get(), kMostSteps);
  const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> match(
      pcre2_match_data_create_from_pattern(regex.get(), nullptr), pcre2_match_data_free);
  Elements<bool> found(ctx.outputs[0].elements());
  for (int64_t i = 0; i < found.size(); ++i) {
    const std::string& text = ctx.inputs[0].as<std::string>()[i];
    const int result = pcre2_match(regex.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0,
                                   match.get(), limits.get());
    if (result < 0 && result != PCRE2_ERROR_NOMATCH)
      return invalid_argument("matching x[{}] against '{}' was given up: {}", i, pattern, message_of(result));
    found[i] = result >= 0;
  }
  return store<bool>(ctx.outputs[0], found);
}

}  // namespace

extern constexpr OpDef kRegexFullMatch = {.name = "regex_full_match",
                                          .summary = "whether the pattern matches the whole text",
                                          .inputs = kInputs,
                                          .outputs = kOutputs,
                                          .attrs = kAttrs,
                                          .infer = infer,
                                          .evaluate = evaluate,
                                          .cost = cost_per_element<8>,
                                          .dtype_of = dtype_of};

}  // namespace nereid::ops
