// SPDX-License-Identifier: Apache-2.0
// string_normalizer: stop words taken out, letters made small or capital (Unicode's simple mappings, no locale).
#include <utf8proc.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "ops/any_inputs.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"case_change_action", AttrSpec::Kind::kString, "NONE", "what is done to letters: LOWER, UPPER or NONE"},
    {"is_case_sensitive", AttrSpec::Kind::kBool, "false", "a stop word is one only in its own letters"},
    {"locale", AttrSpec::Kind::kString, "\"\"", "read and not used: the mappings are Unicode's"},
    {"stopwords", AttrSpec::Kind::kStrings, "[]", "the words that are taken out"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  if (rule.type(0).dtype != DType::string) return invalid_argument("{} should be string", rule.describe(0));
  const std::string& action = ctx.attrs.text("case_change_action");
  if (action != "LOWER" && action != "UPPER" && action != "NONE")
    return invalid_argument("case_change_action is '{}' and should be LOWER, UPPER or NONE", action);
  if (rule.rank(0) == 1) return std::vector<TensorType>{{DType::string, Shape{Dim::unknown()}}};
  NEREID_RETURN_IF_ERROR(rule.has_rank(0, 2));
  NEREID_RETURN_IF_ERROR(rule.has_size(0, 0, 1, "one row"));
  return std::vector<TensorType>{{DType::string, Shape{Dim(1), Dim::unknown()}}};
}

// Bytes that are no UTF-8 stay as they are.
std::string change_case(std::string_view text, utf8proc_int32_t (*change)(utf8proc_int32_t)) {
  std::string out;
  while (!text.empty()) {
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
    utf8proc_int32_t code = -1;
    const auto used = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &code);
    if (used <= 0) {
      out += text[0];
      text.remove_prefix(1);
      continue;
    }
    utf8proc_uint8_t encoded[4];
    const auto n = utf8proc_encode_char(change(code), encoded);
    out.append(reinterpret_cast<const char*>(encoded), static_cast<size_t>(n));
    text.remove_prefix(static_cast<size_t>(used));
  }
  return out;
}

Result<std::vector<Datum>> evaluate(const AnyContext& ctx) {
  NEREID_RETURN_IF_ERROR(infer_data(ctx, infer));
  const bool sensitive = ctx.attrs.boolean("is_case_sensitive");
  const auto key = [&](const std::string& word) { return sensitive ? word : change_case(word, utf8proc_tolower); };
  std::set<std::string> stopwords;
  for (const std::string& word : ctx.attrs.texts("stopwords")) stopwords.insert(key(word));
  const std::string& action = ctx.attrs.text("case_change_action");
  std::vector<std::string> kept;
  for (const std::string& word : ctx.inputs[0]->tensor.strings) {
    if (stopwords.contains(key(word))) continue;
    kept.push_back(action == "LOWER"   ? change_case(word, utf8proc_tolower)
                   : action == "UPPER" ? change_case(word, utf8proc_toupper)
                                       : word);
  }
  if (kept.empty()) kept.emplace_back();
  std::vector<int64_t> sizes = ctx.inputs[0]->tensor.sizes;
  sizes.back() = static_cast<int64_t>(kept.size());
  NEREID_TRY(Tensor y, Tensor::zeros(DType::string, std::move(sizes)));
  y.strings = std::move(kept);
  return one_result(std::move(y));
}

}  // namespace

extern constexpr OpDef kStringNormalizer = {
    .name = "string_normalizer",
    .summary = "x without the stop words, its letters changed; one empty text if nothing is left",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .cost = cost_per_element<0>,
    .evaluate_any = evaluate};

}  // namespace nereid::ops
