// SPDX-License-Identifier: Apache-2.0
// Normalizers, pre-tokenizers and decoders: one branch a kind, in the order of the library's documentation.
#include "llm/token/hf_steps.h"

#include <optional>

#include "llm/token/base64.h"
#include "llm/token/normalizer.h"

namespace nereid::token::hf {
namespace {

Result<SplitBehavior> behavior_of(const Json& step, std::string_view fallback) {
  const std::string name = string_or(step, "behavior", fallback);
  if (name == "Isolated") return SplitBehavior::kIsolated;
  if (name == "Removed") return SplitBehavior::kRemoved;
  if (name == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::kMergedWithNext;
  if (name == "Contiguous") return SplitBehavior::kContiguous;
  return invalid_argument("tokenizer.json asks for the split behaviour '{}', which does not exist", name);
}

// Older files say add_prefix_space, newer ones prepend_scheme.
Result<PrependScheme> scheme_of(const Json& step) {
  const std::string name =
      string_or(step, "prepend_scheme", bool_or(step, "add_prefix_space", true) ? "always" : "never");
  if (name == "always") return PrependScheme::kAlways;
  if (name == "first") return PrependScheme::kFirst;
  if (name == "never") return PrependScheme::kNever;
  return invalid_argument("tokenizer.json asks for the prepend scheme '{}', which does not exist", name);
}

Result<NormalizerStep> normalizer_step(const Json& json) {
  const std::string type = string_or(json, "type", "");
  NormalizerStep step;
  if (type == "NFC") {
    step.kind = NormalizerKind::kNfc;
  } else if (type == "NFD") {
    step.kind = NormalizerKind::kNfd;
  } else if (type == "NFKC") {
    step.kind = NormalizerKind::kNfkc;
  } else if (type == "NFKD") {
    step.kind = NormalizerKind::kNfkd;
  } else if (type == "Lowercase") {
    step.kind = NormalizerKind::kLowercase;
  } else if (type == "StripAccents") {
    step.kind = NormalizerKind::kStripAccents;
  } else if (type == "Nmt") {
    step.kind = NormalizerKind::kNmt;
  } else if (type == "ByteLevel") {
    step.kind = NormalizerKind::kByteLevel;
  } else if (type == "BertNormalizer") {
    step.kind = NormalizerKind::kBert;
    step.clean_text = bool_or(json, "clean_text", true);
    step.pad_cjk = bool_or(json, "handle_chinese_chars", true);
    step.lowercase = bool_or(json, "lowercase", true);
    step.strip_accents = bool_or(json, "strip_accents", step.lowercase);
  } else if (type == "Prepend") {
    step.kind = NormalizerKind::kPrepend;
    step.content = string_or(json, "prepend", "");
  } else if (type == "Replace") {
    step.kind = NormalizerKind::kReplace;
    step.content = string_or(json, "content", "");
    NEREID_RETURN_IF_ERROR(read_pattern(json, step.pattern, step.regex));
  } else if (type == "Strip") {
    step.kind = NormalizerKind::kStrip;
    step.left = bool_or(json, "strip_left", true);
    step.right = bool_or(json, "strip_right", true);
  } else if (type == "Precompiled") {
    step.kind = NormalizerKind::kPrecompiled;
    std::optional<std::string> charsmap = decode_base64(string_or(json, "precompiled_charsmap", ""));
    if (!charsmap) return invalid_argument("the normalisation rules in tokenizer.json are no base64");
    step.charsmap = *std::move(charsmap);
  } else {
    return unsupported("tokenizer.json has a normalizer of the kind '{}', which Nereid does not know", type);
  }
  return step;
}

Result<SplitStep> split_step(const Json& json) {
  const std::string type = string_or(json, "type", "");
  SplitStep step;
  if (type == "ByteLevel") {
    step.kind = SplitKind::kByteLevel;
    step.regex = bool_or(json, "use_regex", true);
    step.prepend = bool_or(json, "add_prefix_space", true) ? PrependScheme::kAlways : PrependScheme::kNever;
  } else if (type == "Split") {
    step.kind = SplitKind::kPattern;
    step.invert = bool_or(json, "invert", false);
    NEREID_TRY(step.behavior, behavior_of(json, "Isolated"));
    NEREID_RETURN_IF_ERROR(read_pattern(json, step.pattern, step.regex));
  } else if (type == "CharDelimiterSplit") {
    step.kind = SplitKind::kPattern;
    step.behavior = SplitBehavior::kRemoved;
    step.pattern = string_or(json, "delimiter", "");
  } else if (type == "Digits") {
    step.kind = SplitKind::kDigits;
    step.individual = bool_or(json, "individual_digits", false);
  } else if (type == "Punctuation") {
    step.kind = SplitKind::kPunctuation;
    NEREID_TRY(step.behavior, behavior_of(json, "Isolated"));
  } else if (type == "Metaspace") {
    step.kind = SplitKind::kMetaspace;
    step.content = string_or(json, "replacement", kMetaspaceUtf8);
    step.regex = bool_or(json, "split", true);
    NEREID_TRY(step.prepend, scheme_of(json));
  } else if (type == "Whitespace") {
    step.kind = SplitKind::kWhitespace;
  } else if (type == "WhitespaceSplit") {
    step.kind = SplitKind::kWhitespaceOnly;
  } else if (type == "BertPreTokenizer") {
    step.kind = SplitKind::kBert;
  } else if (type == "FixedLength") {
    step.kind = SplitKind::kFixedLength;
    const int64_t length = int_or(json, "length", 5);
    if (length < 1 || length > UINT32_MAX)
      return invalid_argument("tokenizer.json asks for pieces of {} characters", length);
    step.length = static_cast<uint32_t>(length);
  } else {
    return unsupported("tokenizer.json has a pre-tokenizer of the kind '{}', which Nereid does not know", type);
  }
  return step;
}

Result<DecoderStep> decoder_step(const Json& json) {
  const std::string type = string_or(json, "type", "");
  DecoderStep step;
  if (type == "ByteLevel") {
    step.kind = DecoderKind::kByteLevel;
  } else if (type == "Replace") {
    step.kind = DecoderKind::kReplace;
    step.content = string_or(json, "content", "");
    bool regex = false;
    NEREID_RETURN_IF_ERROR(read_pattern(json, step.pattern, regex));
    if (regex) return unsupported("tokenizer.json has a decoder that replaces by a regular expression");
  } else if (type == "WordPiece") {
    step.kind = DecoderKind::kWordPiece;
    step.content = string_or(json, "prefix", "##");
    step.cleanup = bool_or(json, "cleanup", true);
  } else if (type == "ByteFallback") {
    step.kind = DecoderKind::kByteFallback;
  } else if (type == "Fuse") {
    step.kind = DecoderKind::kFuse;
  } else if (type == "Strip") {
    step.kind = DecoderKind::kStrip;
    step.content = string_or(json, "content", " ");
    step.start = static_cast<uint32_t>(std::clamp<int64_t>(int_or(json, "start", 0), 0, INT32_MAX));
    step.stop = static_cast<uint32_t>(std::clamp<int64_t>(int_or(json, "stop", 0), 0, INT32_MAX));
  } else if (type == "Metaspace") {
    step.kind = DecoderKind::kMetaspace;
    step.content = string_or(json, "replacement", kMetaspaceUtf8);
    NEREID_TRY(step.prepend, scheme_of(json));
  } else if (type == "BPEDecoder") {
    step.kind = DecoderKind::kSuffix;
    step.content = string_or(json, "suffix", "</w>");
  } else {
    return unsupported("tokenizer.json has a decoder of the kind '{}', which Nereid does not know", type);
  }
  return step;
}

// [text, id] of BertProcessing and RobertaProcessing.
Status read_pair(const Json& json, const char* name, std::vector<int32_t>& ids) {
  const Json* pair = member(json, name);
  if (pair == nullptr || !pair->is_array() || pair->size() != 2 || !(*pair)[1].is_number_integer()) {
    return invalid_argument("the post-processor in tokenizer.json has no pair of text and id under '{}'", name);
  }
  const auto id = (*pair)[1].get<int64_t>();
  ids.push_back(id >= 0 && id <= INT32_MAX ? static_cast<int32_t>(id) : kNoToken);
  return Status::ok();
}

// What a template puts around its texts.
struct Affixes {
  std::vector<int32_t> before, between, after;
  int64_t last_type = 0;  // of the last text
  std::vector<int32_t>& at(int texts) { return texts == 0 ? before : texts == 1 ? between : after; }
};

// The special tokens around {"Sequence": {"id": "A"}} in a list; those behind the last text are `after`.
Result<Affixes> read_affixes(const Json& json, const Json& list) {
  const Json none = Json::object();
  const Json* special = member(json, "special_tokens");
  Affixes affixes;
  int texts = 0;
  for (const Json& piece : list) {
    if (const Json* sequence = member(piece, "Sequence"); sequence != nullptr) {
      affixes.last_type = int_or(*sequence, "type_id", 0);
      texts = std::min(texts + 1, 2);
      continue;
    }
    const Json* token = member(piece, "SpecialToken");
    if (token == nullptr) continue;
    const std::string name = string_or(*token, "id", "");
    const Json* entry = member(special == nullptr ? none : *special, name.c_str());
    const Json* ids = entry == nullptr ? nullptr : member(*entry, "ids");
    if (ids == nullptr || !ids->is_array()) {
      return invalid_argument("the template in tokenizer.json uses the token '{}' but does not give its ids", name);
    }
    for (const Json& id : *ids) {
      if (!id.is_number_integer()) return invalid_argument("an id of '{}' in tokenizer.json is no number", name);
      const auto value = id.get<int64_t>();
      affixes.at(texts).push_back(value >= 0 && value <= INT32_MAX ? static_cast<int32_t>(value) : kNoToken);
    }
  }
  return affixes;
}

// The lists "single" and "pair".
Status read_template(const Json& json, TokenizerSpec& spec) {
  const Json* single = member(json, "single");
  if (single == nullptr || !single->is_array()) {
    return invalid_argument("the template in tokenizer.json has no list 'single'");
  }
  NEREID_TRY(const Affixes one, read_affixes(json, *single));
  spec.prefix_ids.insert(spec.prefix_ids.begin(), one.before.begin(), one.before.end());
  spec.suffix_ids.insert(spec.suffix_ids.end(), one.between.begin(), one.between.end());
  const Json* pair = member(json, "pair");
  if (pair == nullptr || !pair->is_array()) return Status::ok();
  NEREID_TRY(Affixes two, read_affixes(json, *pair));
  spec.middle_ids = std::move(two.between);
  spec.second_type = two.last_type == 1 ? 1 : 0;
  return Status::ok();
}

}  // namespace

const Json* member(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(name);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}

bool bool_or(const Json& object, const char* name, bool fallback) {
  const Json* value = member(object, name);
  return value != nullptr && value->is_boolean() ? value->get<bool>() : fallback;
}

std::string string_or(const Json& object, const char* name, std::string_view fallback) {
  const Json* value = member(object, name);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string(fallback);
}

int64_t int_or(const Json& object, const char* name, int64_t fallback) {
  const Json* value = member(object, name);
  return value != nullptr && value->is_number_integer() ? value->get<int64_t>() : fallback;
}

Status read_pattern(const Json& step, std::string& pattern, bool& regex) {
  const Json* value = member(step, "pattern");
  if (value == nullptr) return invalid_argument("a step of tokenizer.json has no pattern");
  if (value->is_string()) {
    pattern = value->get<std::string>();
    return Status::ok();
  }
  for (const bool is_regex : {false, true}) {
    const Json* text = member(*value, is_regex ? "Regex" : "String");
    if (text == nullptr || !text->is_string()) continue;
    pattern = text->get<std::string>();
    regex = is_regex;
    return Status::ok();
  }
  return invalid_argument("a pattern of tokenizer.json is neither a string nor a regular expression");
}

Status read_normalizer(const Json& json, TokenizerSpec& spec) {
  return for_each_step(json, "normalizers", [&](const Json& part) -> Status {
    NEREID_TRY(NormalizerStep step, normalizer_step(part));
    spec.normalizer.push_back(std::move(step));
    return Status::ok();
  });
}

Status read_pre_tokenizer(const Json& json, TokenizerSpec& spec) {
  return for_each_step(json, "pretokenizers", [&](const Json& part) -> Status {
    NEREID_TRY(SplitStep step, split_step(part));
    spec.pre_tokenizer.push_back(std::move(step));
    return Status::ok();
  });
}

Status read_decoder(const Json& json, TokenizerSpec& spec) {
  return for_each_step(json, "decoders", [&](const Json& part) -> Status {
    NEREID_TRY(DecoderStep step, decoder_step(part));
    spec.decoder.push_back(std::move(step));
    return Status::ok();
  });
}

Status read_post_processor(const Json& json, TokenizerSpec& spec) {
  return for_each_step(json, "processors", [&](const Json& part) -> Status {
    const std::string type = string_or(part, "type", "");
    if (type == "TemplateProcessing") return read_template(part, spec);
    if (type == "ByteLevel") return Status::ok();  // moves offsets only
    if (type == "BertProcessing" || type == "RobertaProcessing") {
      NEREID_RETURN_IF_ERROR(read_pair(part, "cls", spec.prefix_ids));
      NEREID_RETURN_IF_ERROR(read_pair(part, "sep", spec.suffix_ids));
      spec.middle_ids = spec.suffix_ids;
      if (type == "RobertaProcessing") spec.middle_ids.push_back(spec.suffix_ids.back());
      spec.second_type = type == "BertProcessing" ? 1 : 0;
      return Status::ok();
    }
    return unsupported("tokenizer.json has a post-processor of the kind '{}', which Nereid does not know", type);
  });
}

}  // namespace nereid::token::hf
