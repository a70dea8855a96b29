// SPDX-License-Identifier: Apache-2.0
#include "llm/token/tokenizer_spec.h"

#include <cmath>

namespace nereid::token {
namespace {

Status check_ids(const std::vector<int32_t>& ids, size_t tokens, std::string_view what) {
  for (const int32_t id : ids) {
    if (id < 0 || static_cast<size_t>(id) >= tokens) {
      return invalid_argument("the tokenizer's {} name token {}, but the vocabulary has {} tokens", what, id, tokens);
    }
  }
  return Status::ok();
}

}  // namespace

Status TokenizerSpec::validate() const {
  const size_t n = tokens.size();
  if (n == 0) return invalid_argument("the tokenizer has no tokens");
  if (n > INT32_MAX / 2) return invalid_argument("the tokenizer has {} tokens, more than ids can count", n);
  if (types.size() != n) {
    return invalid_argument("the tokenizer has {} tokens but {} token types", n, types.size());
  }
  for (const TokenType type : types) {
    if (type < TokenType::kNormal || type > TokenType::kByte) {
      return invalid_argument("a token of the tokenizer has the type {}; types are 1 to 6", static_cast<int>(type));
    }
  }
  const bool needs_scores = model == ModelKind::kUnigram || merge_by_score;
  if (needs_scores && scores.size() != n) {
    return invalid_argument("the tokenizer has {} tokens but {} scores", n, scores.size());
  }
  for (const float score : scores) {
    if (!std::isfinite(score)) return invalid_argument("the tokenizer's scores include {}, which is no number", score);
  }
  for (size_t i = 0; i < merges.size(); ++i) {
    for (const int32_t id : {merges[i].left, merges[i].right, merges[i].result}) {
      if (id < 0 || static_cast<size_t>(id) >= n) {
        return invalid_argument("merge {} of the tokenizer names token {}, but the vocabulary has {}", i, id, n);
      }
    }
  }
  for (const AddedToken& t : added) {
    if (t.id < 0 || static_cast<size_t>(t.id) >= n) {
      return invalid_argument("the added token '{}' has the id {}, but the vocabulary has {} tokens", t.text, t.id, n);
    }
  }
  NEREID_RETURN_IF_ERROR(check_ids(prefix_ids, n, "first tokens of a text"));
  NEREID_RETURN_IF_ERROR(check_ids(suffix_ids, n, "last tokens of a text"));
  NEREID_RETURN_IF_ERROR(check_ids(middle_ids, n, "tokens between two texts"));
  NEREID_RETURN_IF_ERROR(check_ids(end_of_generation, n, "end tokens"));
  for (const int32_t id : {bos_id, eos_id, eot_id, unknown_id, padding_id}) {
    if (id != kNoToken) NEREID_RETURN_IF_ERROR(check_ids({id}, n, "special tokens"));
  }
  for (const SplitStep& step : pre_tokenizer) {
    if (step.kind == SplitKind::kFixedLength && step.length == 0) {
      return invalid_argument("a pre-tokenizer cuts text into pieces of 0 characters");
    }
    if (step.kind == SplitKind::kMetaspace && step.content.empty()) {
      return invalid_argument("a metaspace pre-tokenizer has no replacement character");
    }
  }
  return Status::ok();
}

}  // namespace nereid::token
