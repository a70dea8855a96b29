// SPDX-License-Identifier: Apache-2.0
// A TokenizerSpec as Metadata and back: long lists as blobs of little-endian numbers, the steps as one JSON text.
#include <bit>
#include <cstring>

#include "base/json.h"
#include "llm/token/tokenizer_spec.h"

namespace nereid::token {
namespace {

static_assert(std::endian::native == std::endian::little, "the blobs are copied as they stand in memory");

constexpr int64_t kVersion = 1;
constexpr std::string_view kVersionKey = "nereid.tokenizer.version";
constexpr std::string_view kStepsKey = "nereid.tokenizer.steps";
constexpr std::string_view kTokenBytesKey = "nereid.tokenizer.token_bytes";
constexpr std::string_view kTokenSizesKey = "nereid.tokenizer.token_sizes";
constexpr std::string_view kTypesKey = "nereid.tokenizer.types";
constexpr std::string_view kScoresKey = "nereid.tokenizer.scores";
constexpr std::string_view kMergesKey = "nereid.tokenizer.merges";
constexpr std::string_view kAddedTextsKey = "nereid.tokenizer.added_texts";
constexpr std::string_view kAddedKey = "nereid.tokenizer.added";          // id and flag bits, two a token
constexpr std::string_view kCharsmapsKey = "nereid.tokenizer.charsmaps";  // one a normalizer step
constexpr std::string_view kPrefixKey = "nereid.tokenizer.prefix_ids";
constexpr std::string_view kSuffixKey = "nereid.tokenizer.suffix_ids";
constexpr std::string_view kMiddleKey = "nereid.tokenizer.middle_ids";
constexpr std::string_view kEndKey = "nereid.tokenizer.end_of_generation";
constexpr std::string_view kTemplateKey = "nereid.tokenizer.chat_template";
constexpr std::string_view kTemplateNamesKey = "nereid.tokenizer.template_names";
constexpr std::string_view kTemplateTextsKey = "nereid.tokenizer.template_texts";

// Every field of a kind of step, named once for both directions.
template <typename Visit>
void visit_fields(NormalizerStep& s, const Visit& v) {
  v("kind", s.kind);
  v("pattern", s.pattern);
  v("content", s.content);
  v("regex", s.regex);
  v("left", s.left);
  v("right", s.right);
  v("clean_text", s.clean_text);
  v("pad_cjk", s.pad_cjk);
  v("strip_accents", s.strip_accents);
  v("lowercase", s.lowercase);
  v("collapse_spaces", s.collapse_spaces);
  v("prepend_space", s.prepend_space);
  v("escape_spaces", s.escape_spaces);
}
template <typename Visit>
void visit_fields(SplitStep& s, const Visit& v) {
  v("kind", s.kind);
  v("pattern", s.pattern);
  v("content", s.content);
  v("behavior", s.behavior);
  v("prepend", s.prepend);
  v("regex", s.regex);
  v("invert", s.invert);
  v("individual", s.individual);
  v("length", s.length);
}
template <typename Visit>
void visit_fields(DecoderStep& s, const Visit& v) {
  v("kind", s.kind);
  v("pattern", s.pattern);
  v("content", s.content);
  v("prepend", s.prepend);
  v("start", s.start);
  v("stop", s.stop);
  v("cleanup", s.cleanup);
}
template <typename Visit>
void visit_fields(TokenizerSpec& s, const Visit& v) {
  v("source", s.source);
  v("model", s.model);
  v("byte_level", s.byte_level);
  v("second_type", s.second_type);
  v("merge_by_score", s.merge_by_score);
  v("ignore_merges", s.ignore_merges);
  v("byte_fallback", s.byte_fallback);
  v("fuse_unknown", s.fuse_unknown);
  v("user_defined_in_model", s.user_defined_in_model);
  v("prefix_every_segment", s.prefix_every_segment);
  v("unknown_surface", s.unknown_surface);
  v("continuing_prefix", s.continuing_prefix);
  v("word_suffix", s.word_suffix);
  v("max_word_chars", s.max_word_chars);
  v("unknown_penalty", s.unknown_penalty);
  v("bos_id", s.bos_id);
  v("eos_id", s.eos_id);
  v("eot_id", s.eot_id);
  v("unknown_id", s.unknown_id);
  v("padding_id", s.padding_id);
}

// The number of values of each enumeration, to refuse what is out of range.
constexpr int64_t values_of(ModelKind) {
  return 3;
}
constexpr int64_t values_of(NormalizerKind) {
  return static_cast<int64_t>(NormalizerKind::kByteLevel) + 1;
}
constexpr int64_t values_of(SplitKind) {
  return static_cast<int64_t>(SplitKind::kFixedLength) + 1;
}
constexpr int64_t values_of(DecoderKind) {
  return static_cast<int64_t>(DecoderKind::kSuffix) + 1;
}
constexpr int64_t values_of(SplitBehavior) {
  return 5;
}
constexpr int64_t values_of(PrependScheme) {
  return 3;
}

// Writes the fields that differ from a new T's.
template <typename T>
Json to_json(const T& value) {
  Json out = Json::object();
  T copy = value, fresh;
  Json defaults = Json::object();
  const auto write_to = [](Json& to) {
    return [&to](const char* name, auto& field) {
      using Field = std::remove_reference_t<decltype(field)>;
      if constexpr (std::is_enum_v<Field>) {
        to[name] = static_cast<int>(field);
      } else {
        to[name] = field;
      }
    };
  };
  visit_fields(copy, write_to(out));
  visit_fields(fresh, write_to(defaults));
  for (const auto& [name, field] : defaults.items())
    if (name != "kind" && out[name] == field) out.erase(name);
  return out;
}

template <typename T>
Status from_json(const Json& in, T& out) {
  if (!in.is_object()) return invalid_argument("a step of the stored tokenizer is no JSON object");
  Status status;
  visit_fields(out, [&](const char* name, auto& field) {
    using Field = std::remove_reference_t<decltype(field)>;
    const auto at = in.find(name);
    if (at == in.end() || !status.is_ok()) return;
    bool good = false;
    if constexpr (std::is_enum_v<Field>) {
      good =
          at->is_number_integer() && at->template get<int64_t>() >= 0 && at->template get<int64_t>() < values_of(field);
      if (good) field = static_cast<Field>(at->template get<int64_t>());
    } else if constexpr (std::is_same_v<Field, std::string>) {
      good = at->is_string();
      if (good) field = at->template get<std::string>();
    } else if constexpr (std::is_same_v<Field, bool>) {
      good = at->is_boolean();
      if (good) field = at->template get<bool>();
    } else {
      good = std::is_integral_v<Field> ? at->is_number_integer() : at->is_number();
      if (good) field = at->template get<Field>();
    }
    if (!good) status = invalid_argument("the field '{}' of the stored tokenizer has no fitting value", name);
  });
  return status;
}

template <typename T>
Json list_to_json(const std::vector<T>& steps) {
  Json out = Json::array();
  for (const T& step : steps) out.push_back(to_json(step));
  return out;
}
template <typename T>
Status list_from_json(const Json& in, const char* name, std::vector<T>& out) {
  const auto at = in.find(name);
  if (at == in.end() || !at->is_array()) return invalid_argument("the stored tokenizer has no list of {} steps", name);
  for (const Json& step : *at) NEREID_RETURN_IF_ERROR(from_json(step, out.emplace_back()));
  return Status::ok();
}

template <typename T>
std::string to_blob(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}
template <typename T>
Result<std::vector<T>> from_blob(const Metadata& m, std::string_view key) {
  NEREID_TRY(const std::string_view blob, m.get_string(key));
  if (blob.size() % sizeof(T) != 0) {
    return invalid_argument("{} has {} bytes, no multiple of {}", key, blob.size(), sizeof(T));
  }
  std::vector<T> values(blob.size() / sizeof(T));
  if (!blob.empty()) std::memcpy(values.data(), blob.data(), blob.size());
  return values;
}

std::vector<int64_t> widen(const std::vector<int32_t>& ids) {
  return {ids.begin(), ids.end()};
}

// Ids that do not fit become kNoToken, which validate() refuses.
int32_t narrow(int64_t id) {
  return id >= 0 && id <= INT32_MAX ? static_cast<int32_t>(id) : kNoToken;
}
std::vector<int32_t> read_id_list(const Metadata& m, std::string_view key) {
  std::vector<int32_t> ids;
  if (const std::vector<int64_t>* list = m.ints(key)) {
    for (const int64_t id : *list) ids.push_back(narrow(id));
  }
  return ids;
}

constexpr int64_t kSpecial = 1, kLeftStrip = 2, kRightStrip = 4, kSingleWord = 8, kNormalized = 16;

Status read_added(const Metadata& m, std::vector<AddedToken>& added) {
  const auto* texts = m.strings(kAddedTextsKey);
  const auto* numbers = m.ints(kAddedKey);
  if (texts == nullptr && numbers == nullptr) return Status::ok();
  if (texts == nullptr || numbers == nullptr || numbers->size() != 2 * texts->size()) {
    return invalid_argument("{} and {} do not fit together", kAddedTextsKey, kAddedKey);
  }
  for (size_t i = 0; i < texts->size(); ++i) {
    const int64_t flags = (*numbers)[2 * i + 1];
    added.push_back({.id = narrow((*numbers)[2 * i]),
                     .text = std::string((*texts)[i]),
                     .special = (flags & kSpecial) != 0,
                     .left_strip = (flags & kLeftStrip) != 0,
                     .right_strip = (flags & kRightStrip) != 0,
                     .single_word = (flags & kSingleWord) != 0,
                     .normalized = (flags & kNormalized) != 0});
  }
  return Status::ok();
}

Status read_tokens(const Metadata& m, StringTable& tokens) {
  NEREID_TRY(std::string_view bytes, m.get_string(kTokenBytesKey));
  NEREID_TRY(const std::vector<uint32_t> sizes, from_blob<uint32_t>(m, kTokenSizesKey));
  if (bytes.size() > UINT32_MAX) return invalid_argument("the tokens have {} bytes in all, too many", bytes.size());
  tokens.reserve(sizes.size(), bytes.size());
  for (const uint32_t size : sizes) {
    if (size > bytes.size()) {
      return invalid_argument("{} and {} do not fit together", kTokenBytesKey, kTokenSizesKey);
    }
    tokens.add(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return Status::ok();
}

}  // namespace

bool TokenizerSpec::is_in(const Metadata& metadata) {
  return metadata.has(kVersionKey);
}

Status TokenizerSpec::to_metadata(Metadata& out) const {
  Json steps = to_json(*this);
  steps["normalizer"] = list_to_json(normalizer);
  steps["pre_tokenizer"] = list_to_json(pre_tokenizer);
  steps["decoder"] = list_to_json(decoder);

  std::vector<uint32_t> sizes;
  for (size_t id = 0; id < tokens.size(); ++id) sizes.push_back(static_cast<uint32_t>(tokens[id].size()));
  std::vector<std::string_view> charsmaps, added_texts, template_names, template_texts;
  for (const NormalizerStep& step : normalizer) charsmaps.push_back(out.own(step.charsmap));
  std::vector<int64_t> added_numbers;
  for (const AddedToken& t : added) {
    added_texts.push_back(out.own(t.text));
    added_numbers.push_back(t.id);
    added_numbers.push_back((t.special ? kSpecial : 0) | (t.left_strip ? kLeftStrip : 0) |
                            (t.right_strip ? kRightStrip : 0) | (t.single_word ? kSingleWord : 0) |
                            (t.normalized ? kNormalized : 0));
  }
  for (const auto& [name, text] : named_templates) {
    template_names.push_back(out.own(name));
    template_texts.push_back(out.own(text));
  }
  const auto add_text = [&](std::string_view key, std::string text) { return out.add(key, out.own(std::move(text))); };
  NEREID_RETURN_IF_ERROR(out.add(kVersionKey, kVersion));
  NEREID_RETURN_IF_ERROR(add_text(kStepsKey, steps.dump(-1, ' ', false, Json::error_handler_t::replace)));
  NEREID_RETURN_IF_ERROR(add_text(kTokenBytesKey, tokens.bytes()));
  NEREID_RETURN_IF_ERROR(add_text(kTokenSizesKey, to_blob(sizes)));
  NEREID_RETURN_IF_ERROR(add_text(kTypesKey, to_blob(types)));
  NEREID_RETURN_IF_ERROR(add_text(kScoresKey, to_blob(scores)));
  NEREID_RETURN_IF_ERROR(add_text(kMergesKey, to_blob(merges)));
  NEREID_RETURN_IF_ERROR(out.add(kAddedTextsKey, std::move(added_texts)));
  NEREID_RETURN_IF_ERROR(out.add(kAddedKey, std::move(added_numbers)));
  NEREID_RETURN_IF_ERROR(out.add(kCharsmapsKey, std::move(charsmaps)));
  NEREID_RETURN_IF_ERROR(out.add(kPrefixKey, widen(prefix_ids)));
  NEREID_RETURN_IF_ERROR(out.add(kSuffixKey, widen(suffix_ids)));
  if (!middle_ids.empty()) NEREID_RETURN_IF_ERROR(out.add(kMiddleKey, widen(middle_ids)));
  NEREID_RETURN_IF_ERROR(out.add(kEndKey, widen(end_of_generation)));
  NEREID_RETURN_IF_ERROR(add_text(kTemplateKey, chat_template));
  NEREID_RETURN_IF_ERROR(out.add(kTemplateNamesKey, std::move(template_names)));
  return out.add(kTemplateTextsKey, std::move(template_texts));
}

Result<TokenizerSpec> TokenizerSpec::from_metadata(const Metadata& m) {
  NEREID_TRY(const int64_t version, m.get_int(kVersionKey));
  if (version != kVersion) {
    return unsupported("the stored tokenizer has version {}; this program reads version {}", version, kVersion);
  }
  TokenizerSpec spec;
  NEREID_TRY(const std::string_view text, m.get_string(kStepsKey));
  NEREID_TRY(const Json steps, parse_json(text).with(kStepsKey));
  NEREID_RETURN_IF_ERROR(from_json(steps, spec));
  NEREID_RETURN_IF_ERROR(list_from_json(steps, "normalizer", spec.normalizer));
  NEREID_RETURN_IF_ERROR(list_from_json(steps, "pre_tokenizer", spec.pre_tokenizer));
  NEREID_RETURN_IF_ERROR(list_from_json(steps, "decoder", spec.decoder));
  if (const auto* charsmaps = m.strings(kCharsmapsKey)) {
    for (size_t i = 0; i < std::min(charsmaps->size(), spec.normalizer.size()); ++i)
      spec.normalizer[i].charsmap = (*charsmaps)[i];
  }
  NEREID_RETURN_IF_ERROR(read_tokens(m, spec.tokens));
  NEREID_TRY(spec.types, from_blob<TokenType>(m, kTypesKey));
  NEREID_TRY(spec.scores, from_blob<float>(m, kScoresKey));
  NEREID_TRY(spec.merges, from_blob<Merge>(m, kMergesKey));
  NEREID_RETURN_IF_ERROR(read_added(m, spec.added));
  spec.prefix_ids = read_id_list(m, kPrefixKey);
  spec.suffix_ids = read_id_list(m, kSuffixKey);
  spec.middle_ids = read_id_list(m, kMiddleKey);
  spec.end_of_generation = read_id_list(m, kEndKey);
  spec.chat_template = m.string_or(kTemplateKey, "");
  const auto* names = m.strings(kTemplateNamesKey);
  const auto* texts = m.strings(kTemplateTextsKey);
  if (names != nullptr && texts != nullptr && names->size() == texts->size()) {
    for (size_t i = 0; i < names->size(); ++i) spec.named_templates.emplace_back((*names)[i], (*texts)[i]);
  }
  NEREID_RETURN_IF_ERROR(spec.validate());
  return spec;
}

}  // namespace nereid::token
