// SPDX-License-Identifier: Apache-2.0
// tokenizer.json: the model with its vocabulary, and the added tokens.
#include "llm/token/source_huggingface.h"

#include <algorithm>
#include <array>

#include "llm/token/byte_stand_ins.h"
#include "llm/token/end_tokens.h"
#include "llm/token/hf_steps.h"

namespace nereid::token {
namespace {

using hf::Json;
using hf::member;

// The vocabulary's texts by id, as the file writes them. Views into the JSON.
struct Texts {
  std::vector<std::string_view> by_id;
  std::vector<bool> in_model;
  size_t count = 0;  // entries of the file, to bound the ids by

  Status set(int64_t id, std::string_view text, bool from_model) {
    ++count;
    // A sparse vocabulary must not cost more memory than the file could pay for.
    if (id < 0 || static_cast<uint64_t>(id) > 8 * count + (1u << 20)) {
      return invalid_argument("tokenizer.json gives the token '{}' the id {}, out of all proportion", text, id);
    }
    const auto i = static_cast<size_t>(id);
    if (i >= by_id.size()) {
      by_id.resize(i + 1);
      in_model.resize(i + 1);
    }
    by_id[i] = text;
    in_model[i] = in_model[i] || from_model;
    return Status::ok();
  }
};

std::string_view view(const Json& text) {
  return *text.get_ptr<const std::string*>();
}

Status read_vocabulary_object(const Json& vocabulary, Texts& texts) {
  // Entries come sorted by text; the largest id first makes the bound meaningful.
  for (const auto& [text, id] : vocabulary.items()) {
    if (!id.is_number_integer())
      return invalid_argument("the id of the token '{}' in tokenizer.json is no number", text);
    const auto value = id.get<int64_t>();
    if (value < 0 || static_cast<uint64_t>(value) > 8 * vocabulary.size() + 4096) {
      return invalid_argument("tokenizer.json gives the token '{}' the id {}, but has only {} tokens", text, value,
                              vocabulary.size());
    }
  }
  for (auto at = vocabulary.begin(); at != vocabulary.end(); ++at) {
    NEREID_RETURN_IF_ERROR(texts.set(at.value().get<int64_t>(), at.key(), true));
  }
  return Status::ok();
}

Status read_vocabulary_list(const Json& vocabulary, Texts& texts, std::vector<float>& scores) {
  for (const Json& entry : vocabulary) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number()) {
      return invalid_argument("entry {} of the vocabulary in tokenizer.json is no pair of text and score",
                              scores.size());
    }
    NEREID_RETURN_IF_ERROR(texts.set(static_cast<int64_t>(scores.size()), view(entry[0]), true));
    scores.push_back(static_cast<float>(std::clamp(entry[1].get<double>(), -1e30, 1e30)));
  }
  return Status::ok();
}

Status read_added(const Json& root, Texts& texts, std::vector<AddedToken>& added) {
  const Json* list = member(root, "added_tokens");
  if (list == nullptr) return Status::ok();
  if (!list->is_array()) return invalid_argument("added_tokens in tokenizer.json is no list");
  for (const Json& entry : *list) {
    const Json* content = member(entry, "content");
    if (content == nullptr || !content->is_string()) {
      return invalid_argument("an added token in tokenizer.json has no content");
    }
    const int64_t id = hf::int_or(entry, "id", -1);
    NEREID_RETURN_IF_ERROR(texts.set(id, view(*content), false));
    AddedToken t{.id = static_cast<int32_t>(id), .text = content->get<std::string>()};
    t.special = hf::bool_or(entry, "special", false);
    t.left_strip = hf::bool_or(entry, "lstrip", false);
    t.right_strip = hf::bool_or(entry, "rstrip", false);
    t.single_word = hf::bool_or(entry, "single_word", false);
    t.normalized = hf::bool_or(entry, "normalized", !t.special);
    added.push_back(std::move(t));
  }
  return Status::ok();
}

bool is_byte_token(std::string_view text) {
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'); };
  return text.size() == 6 && text.starts_with("<0x") && text[5] == '>' && is_hex(text[3]) && is_hex(text[4]);
}

// The texts as the models want them, with their types.
void finish_tokens(const Texts& texts, TokenizerSpec& spec) {
  const size_t n = texts.by_id.size();
  spec.types.assign(n, TokenType::kNormal);
  std::vector<bool> plain(n, false);  // written as it is, not in stand-in characters
  for (size_t id = 0; id < n; ++id) {
    plain[id] = !texts.in_model[id];
    if (spec.byte_fallback && is_byte_token(texts.by_id[id])) spec.types[id] = TokenType::kByte;
  }
  for (const AddedToken& t : spec.added) {
    const auto id = static_cast<size_t>(t.id);
    plain[id] = true;
    if (t.special) {
      spec.types[id] = TokenType::kControl;
    } else if (!texts.in_model[id]) {
      spec.types[id] = TokenType::kUserDefined;
    }
  }
  std::string bytes;
  for (size_t id = 0; id < n; ++id) {
    bytes.clear();
    if (!spec.byte_level || plain[id]) {
      bytes = texts.by_id[id];
    } else if (!append_unmapped(texts.by_id[id], bytes)) {
      bytes = texts.by_id[id];
      spec.types[id] = TokenType::kUnused;  // stands for no bytes
    }
    spec.tokens.add(bytes);
  }
}

// Which words merge, by the texts of the file.
Status read_merges(const Json& model, const Texts& texts, TokenizerSpec& spec) {
  const Json* merges = member(model, "merges");
  if (merges == nullptr) return Status::ok();
  if (!merges->is_array()) return invalid_argument("the merges in tokenizer.json are no list");
  StringTable table;
  for (const std::string_view text : texts.by_id) table.add(text);
  StringIndex index(&table, table.size());
  for (size_t id = 0; id < table.size(); ++id)
    if (texts.in_model[id]) index.insert(static_cast<int32_t>(id));
  std::string whole;
  for (const Json& merge : *merges) {
    std::string_view left, right;
    if (merge.is_string()) {
      const std::string_view both = view(merge);
      const size_t space = both.find(' ');
      if (space == std::string_view::npos) continue;
      left = both.substr(0, space);
      right = both.substr(space + 1);
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      left = view(merge[0]);
      right = view(merge[1]);
    } else {
      return invalid_argument("merge {} in tokenizer.json is no pair of texts", spec.merges.size());
    }
    const bool continues = !spec.continuing_prefix.empty() && right.starts_with(spec.continuing_prefix);
    whole.assign(left).append(continues ? right.substr(spec.continuing_prefix.size()) : right);
    const Merge ids{index.find(left), index.find(right), index.find(whole)};
    if (ids.left == kNoToken || ids.right == kNoToken || ids.result == kNoToken) {
      return invalid_argument(
          "the merge of '{}' and '{}' in tokenizer.json names a token that is not in its vocabulary", left, right);
    }
    spec.merges.push_back(ids);
  }
  return Status::ok();
}

// Older files name no kind of model.
std::string kind_of(const Json& model) {
  const std::string type = hf::string_or(model, "type", "");
  if (!type.empty()) return type;
  if (member(model, "merges") != nullptr) return "BPE";
  const Json* vocabulary = member(model, "vocab");
  return vocabulary != nullptr && vocabulary->is_array() ? "Unigram" : "WordPiece";
}

bool uses_byte_level(const TokenizerSpec& spec) {
  const auto splits = [](const SplitStep& s) { return s.kind == SplitKind::kByteLevel; };
  const auto normalizes = [](const NormalizerStep& s) { return s.kind == NormalizerKind::kByteLevel; };
  return std::any_of(spec.pre_tokenizer.begin(), spec.pre_tokenizer.end(), splits) ||
         std::any_of(spec.normalizer.begin(), spec.normalizer.end(), normalizes);
}

int32_t find_text(const Texts& texts, std::string_view text) {
  const auto at = std::find(texts.by_id.begin(), texts.by_id.end(), text);
  return text.empty() || at == texts.by_id.end() ? kNoToken : static_cast<int32_t>(at - texts.by_id.begin());
}

Status read_model(const Json& root, const Json& model, TokenizerSpec& spec) {
  const Json* vocabulary = member(model, "vocab");
  if (vocabulary == nullptr) return invalid_argument("the model in tokenizer.json has no vocabulary");
  const std::string kind = kind_of(model);
  Texts texts;
  std::string unknown = hf::string_or(model, "unk_token", "");
  spec.byte_level = uses_byte_level(spec);
  spec.byte_fallback = hf::bool_or(model, "byte_fallback", false);
  if (kind == "Unigram" && vocabulary->is_array()) {
    spec.model = ModelKind::kUnigram;
    spec.fuse_unknown = true;
    NEREID_RETURN_IF_ERROR(read_vocabulary_list(*vocabulary, texts, spec.scores));
    const int64_t id = hf::int_or(model, "unk_id", -1);
    if (id >= 0 && static_cast<uint64_t>(id) < texts.by_id.size()) spec.unknown_id = static_cast<int32_t>(id);
  } else if (vocabulary->is_object() && (kind == "BPE" || kind == "WordPiece")) {
    spec.model = kind == "BPE" ? ModelKind::kBpe : ModelKind::kWordPiece;
    NEREID_RETURN_IF_ERROR(read_vocabulary_object(*vocabulary, texts));
  } else {
    return unsupported("the model in tokenizer.json is of the kind '{}'; known kinds are BPE, Unigram and WordPiece",
                       kind);
  }
  if (spec.byte_level && spec.model != ModelKind::kBpe) {
    return unsupported("tokenizer.json joins a byte-level pre-tokenizer with a model of the kind '{}'", kind);
  }
  NEREID_RETURN_IF_ERROR(read_added(root, texts, spec.added));
  if (spec.unknown_id == kNoToken) spec.unknown_id = find_text(texts, unknown);
  if (spec.model == ModelKind::kBpe) {
    spec.continuing_prefix = hf::string_or(model, "continuing_subword_prefix", "");
    spec.word_suffix = hf::string_or(model, "end_of_word_suffix", "");
    spec.fuse_unknown = hf::bool_or(model, "fuse_unk", false);
    spec.ignore_merges = hf::bool_or(model, "ignore_merges", false);
    NEREID_RETURN_IF_ERROR(read_merges(model, texts, spec));
  } else if (spec.model == ModelKind::kWordPiece) {
    spec.continuing_prefix = hf::string_or(model, "continuing_subword_prefix", "##");
    spec.max_word_chars =
        static_cast<uint32_t>(std::clamp<int64_t>(hf::int_or(model, "max_input_chars_per_word", 100), 0, INT32_MAX));
  }
  finish_tokens(texts, spec);
  if (spec.model == ModelKind::kUnigram) spec.scores.resize(spec.tokens.size(), 0.0f);
  return Status::ok();
}

}  // namespace

Result<TokenizerSpec> spec_from_huggingface(const HuggingFaceFiles& files) {
  // Deeper than any of its parts may be: those say it in their own words.
  const Result<Json> parsed = parse_json(files.tokenizer_json, {.max_depth = 100000});
  if (!parsed.is_ok()) return invalid_argument("tokenizer.json is no JSON text: {}", parsed.status().message());
  const Json& root = *parsed;
  const Json* model = member(root, "model");
  if (model == nullptr) return invalid_argument("tokenizer.json has no model");
  TokenizerSpec spec;
  spec.source = kTokenizerJson;
  const auto part = [&](const char* name) {
    const Json* value = member(root, name);
    return value == nullptr ? Json() : *value;
  };
  NEREID_RETURN_IF_ERROR(hf::read_normalizer(part("normalizer"), spec));
  NEREID_RETURN_IF_ERROR(hf::read_pre_tokenizer(part("pre_tokenizer"), spec));
  NEREID_RETURN_IF_ERROR(hf::read_post_processor(part("post_processor"), spec));
  NEREID_RETURN_IF_ERROR(hf::read_decoder(part("decoder"), spec));
  NEREID_RETURN_IF_ERROR(read_model(root, *model, spec));
  if (spec.decoder.empty()) {
    // Without a decoder the tokens are joined by spaces, which is what a WordPiece decoder without prefix does.
    DecoderStep step;
    step.kind = spec.byte_level ? DecoderKind::kByteLevel : DecoderKind::kWordPiece;
    spec.decoder.push_back(step);
  }
  NEREID_RETURN_IF_ERROR(apply_huggingface_config(files, spec));
  NEREID_RETURN_IF_ERROR(spec.validate());
  return spec;
}

}  // namespace nereid::token
