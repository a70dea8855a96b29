// SPDX-License-Identifier: Apache-2.0
// One function a kind of vocabulary: tokenizer.ggml.model names it.
#include "llm/token/source_gguf.h"

#include <algorithm>
#include <cctype>

#include "llm/token/byte_stand_ins.h"
#include "llm/token/end_tokens.h"
#include "llm/token/normalizer.h"
#include "llm/token/pre_table.h"

namespace nereid::token {
namespace {

constexpr std::string_view kTokens = "tokenizer.ggml.tokens";
constexpr std::string_view kTypes = "tokenizer.ggml.token_type";
constexpr std::string_view kScores = "tokenizer.ggml.scores";
constexpr std::string_view kMerges = "tokenizer.ggml.merges";

TokenType type_of(int64_t number) {
  const bool known = number >= 1 && number <= 6;
  return known ? static_cast<TokenType>(number) : TokenType::kNormal;
}

// Reads the lists that every kind has; `texts` are the tokens as the file writes them.
Status read_types(const Metadata& m, size_t tokens, TokenizerSpec& spec) {
  spec.types.assign(tokens, TokenType::kNormal);
  const std::vector<int64_t>* types = m.ints(kTypes);
  if (types == nullptr) return Status::ok();
  if (types->size() < tokens) {
    return invalid_argument("{} has {} entries for {} tokens", kTypes, types->size(), tokens);
  }
  for (size_t i = 0; i < tokens; ++i) spec.types[i] = type_of((*types)[i]);
  return Status::ok();
}

Status read_scores(const Metadata& m, size_t tokens, TokenizerSpec& spec) {
  const auto take = [&](const auto& list) {
    if (list.size() < tokens) {
      return invalid_argument("{} has {} entries for {} tokens", kScores, list.size(), tokens);
    }
    spec.scores.resize(tokens);
    std::transform(list.begin(), list.begin() + static_cast<ptrdiff_t>(tokens), spec.scores.begin(),
                   [](auto s) { return static_cast<float>(s); });
    return Status::ok();
  };
  if (const auto* floats = m.floats(kScores)) return take(*floats);
  if (const auto* ints = m.ints(kScores)) return take(*ints);
  return not_found("{} is missing; this kind of tokenizer needs a score for each token", kScores);
}

// The id under `key`, `fallback` if the key is absent; ids outside the vocabulary count as absent.
int32_t read_id(const Metadata& m, std::string_view key, size_t tokens, int32_t fallback) {
  const int64_t id = m.int_or(key, fallback);
  return id >= 0 && static_cast<uint64_t>(id) < tokens ? static_cast<int32_t>(id) : kNoToken;
}

void read_ids(const Metadata& m, const TokenizerSpec& defaults, TokenizerSpec& spec) {
  const size_t n = spec.types.size();
  spec.bos_id = read_id(m, "tokenizer.ggml.bos_token_id", n, defaults.bos_id);
  spec.eos_id = read_id(m, "tokenizer.ggml.eos_token_id", n, defaults.eos_id);
  spec.eot_id = read_id(m, "tokenizer.ggml.eot_token_id", n, kNoToken);
  spec.unknown_id = read_id(m, "tokenizer.ggml.unknown_token_id", n, defaults.unknown_id);
  spec.padding_id = read_id(m, "tokenizer.ggml.padding_token_id", n, defaults.padding_id);
  const int32_t eom_id = read_id(m, "tokenizer.ggml.eom_token_id", n, kNoToken);
  if (eom_id != kNoToken) spec.end_of_generation.push_back(eom_id);
}

struct AddDefaults {
  bool bos = false, eos = false, separator = false;
};
void read_affixes(const Metadata& m, AddDefaults defaults, int32_t separator_default, TokenizerSpec& spec) {
  const int32_t separator =
      read_id(m, "tokenizer.ggml.seperator_token_id", spec.types.size(), separator_default);  // the key's own spelling
  if (m.bool_or("tokenizer.ggml.add_bos_token", defaults.bos) && spec.bos_id != kNoToken) {
    spec.prefix_ids.push_back(spec.bos_id);
  }
  if (m.bool_or("tokenizer.ggml.add_eos_token", defaults.eos) && spec.eos_id != kNoToken) {
    spec.suffix_ids.push_back(spec.eos_id);
  }
  if (m.bool_or("tokenizer.ggml.add_sep_token", defaults.separator) && separator != kNoToken) {
    spec.suffix_ids.push_back(separator);
  }
  // What stands between two texts is not in the file: BERT's way, the separator and a second type.
  if (spec.model == ModelKind::kWordPiece) {
    spec.middle_ids = spec.suffix_ids;
    spec.second_type = 1;
  }
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Tokens cut out of the text. GGUF does not say which of them take neighbouring white space; a few models are known to.
void read_added(const Metadata& m, const std::vector<std::string_view>& texts, TokenizerSpec& spec) {
  std::string name(m.string_or("general.name", ""));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::string_view pre = m.string_or("tokenizer.ggml.pre", "");
  const std::string_view arch = m.string_or("general.architecture", "");
  const bool phi3 = contains(name, "phi-3") || contains(name, "phi3");
  const bool mask_strips = contains(pre, "jina-v2-de") || contains(pre, "jina-v2-es") ||
                           contains(pre, "jina-v2-code") || contains(arch, "nomic-bert-moe") ||
                           contains(arch, "jina-bert-v3");
  const bool modern_bert = contains(name, "modern-bert");
  for (size_t id = 0; id < texts.size(); ++id) {
    const TokenType type = spec.types[id];
    const bool special = type == TokenType::kControl || type == TokenType::kUnknown;
    if (!special && type != TokenType::kUserDefined) continue;
    AddedToken t{.id = static_cast<int32_t>(id), .text = std::string(texts[id]), .special = special};
    t.left_strip = (mask_strips && t.text == "<mask>") || (modern_bert && t.text == "[MASK]");
    t.right_strip = phi3 && t.text != "<unk>" && t.text != "<s>" && t.text != "<|endoftext|>";
    spec.added.push_back(std::move(t));
  }
}

SplitStep pattern_step(std::string_view regex) {
  SplitStep step;
  step.kind = SplitKind::kPattern;
  step.pattern = regex;
  step.regex = true;
  return step;
}

NormalizerStep replace_step(std::string_view pattern, std::string_view content) {
  NormalizerStep step;
  step.kind = NormalizerKind::kReplace;
  step.pattern = pattern;
  step.content = content;
  return step;
}

void add_metaspace_decoder(bool strips_first_space, TokenizerSpec& spec) {
  DecoderStep replace{.kind = DecoderKind::kReplace};
  replace.pattern = kMetaspaceUtf8;
  replace.content.assign(1, ' ');
  spec.decoder = {replace, {.kind = DecoderKind::kByteFallback}, {.kind = DecoderKind::kFuse}};
  if (!strips_first_space) return;
  DecoderStep strip{.kind = DecoderKind::kStrip};
  strip.content.assign(1, ' ');
  strip.start = 1;
  spec.decoder.push_back(strip);
}

void add_texts(const std::vector<std::string_view>& texts, TokenizerSpec& spec) {
  size_t bytes = 0;
  for (const std::string_view t : texts) bytes += t.size();
  spec.tokens.reserve(texts.size(), bytes);
  for (const std::string_view t : texts) spec.tokens.add(t);
}

// Byte-level vocabularies are written in stand-in characters; tokens that are cut out of the text are written plainly.
void add_byte_level_texts(const std::vector<std::string_view>& texts, TokenizerSpec& spec) {
  spec.byte_level = true;
  std::string bytes;
  for (size_t id = 0; id < texts.size(); ++id) {
    bytes.clear();
    const bool plain = spec.types[id] != TokenType::kNormal && spec.types[id] != TokenType::kUnused;
    if (plain) {
      bytes = texts[id];
    } else if (!append_unmapped(texts[id], bytes)) {
      // Some vocabularies hold characters that stand for no byte: no text ever becomes such a token.
      bytes = texts[id];
      spec.types[id] = TokenType::kUnused;
    }
    spec.tokens.add(bytes);
  }
}

// "left right", each a token, and so is what they make together. Merges that name no token are left out: nothing can
// ever use them.
Status read_merges(const Metadata& m, TokenizerSpec& spec) {
  const std::vector<std::string_view>* merges = m.strings(kMerges);
  if (merges == nullptr) return not_found("{} is missing; a BPE tokenizer needs its merges", kMerges);
  StringIndex index(&spec.tokens, spec.tokens.size());
  for (size_t id = 0; id < spec.tokens.size(); ++id)
    if (spec.types[id] == TokenType::kNormal || !spec.byte_level) index.insert(static_cast<int32_t>(id));
  spec.merges.reserve(merges->size());
  std::string joined;
  int32_t guess = 0;  // vocabularies list what merges make in the order of the merges
  for (const std::string_view merge : *merges) {
    const size_t space = merge.find(' ', 1);
    if (space == std::string_view::npos) continue;
    const std::string_view left = merge.substr(0, space), right = merge.substr(space + 1);
    joined.clear();
    size_t cut = left.size();
    if (spec.byte_level) {
      if (!append_unmapped(left, joined)) continue;
      cut = joined.size();
      if (!append_unmapped(right, joined)) continue;
    } else {
      joined.append(left).append(right);
    }
    const std::string_view whole = joined;
    const auto g = static_cast<size_t>(guess);
    const bool guessed = g < spec.tokens.size() && spec.types[g] == TokenType::kNormal && spec.tokens[g] == whole;
    const Merge ids{index.find(whole.substr(0, cut)), index.find(whole.substr(cut)),
                    guessed ? guess : index.find(whole)};
    guess = ids.result + 1;
    if (ids.left != kNoToken && ids.right != kNoToken && ids.result != kNoToken) spec.merges.push_back(ids);
  }
  return Status::ok();
}

Status read_bpe(const Metadata& m, std::string_view pre, const std::vector<std::string_view>& texts,
                std::string* warning, TokenizerSpec& spec) {
  spec.model = ModelKind::kBpe;
  const PreTokenizerRow* row = find_pre_tokenizer(pre);
  if (row == nullptr) {
    row = &default_pre_tokenizer();
    if (warning != nullptr) {
      *warning = pre.empty() ? "The model names no pre-tokenizer (tokenizer.ggml.pre); the default one is used."
                             : fmt::format(
                                   "The pre-tokenizer '{}' is not known; the default one is used, and some "
                                   "texts may get other tokens.",
                                   pre);
    }
  }
  if (row->byte_level) {
    add_byte_level_texts(texts, spec);
  } else {
    add_texts(texts, spec);
    spec.byte_fallback = true;
  }
  NEREID_RETURN_IF_ERROR(read_merges(m, spec));
  spec.ignore_merges = row->ignore_merges;
  if (row->escape_spaces) spec.normalizer.push_back(replace_step(" ", kMetaspaceUtf8));
  for (const std::string_view pattern : row->patterns)
    if (!pattern.empty()) spec.pre_tokenizer.push_back(pattern_step(pattern));
  if (row->byte_level) {
    spec.pre_tokenizer.push_back({.kind = SplitKind::kByteLevel});
    spec.decoder.push_back({.kind = DecoderKind::kByteLevel});
  } else {
    add_metaspace_decoder(false, spec);
  }
  read_ids(m, {}, spec);
  // A byte without a token is left out, as the models' own tokenizers do: the "unknown" id some files give is a filler.
  if (row->byte_level) spec.unknown_id = kNoToken;
  read_affixes(m, {.bos = row->add_bos, .separator = row->add_separator}, kNoToken, spec);
  return Status::ok();
}

// SentencePiece BPE.
Status read_llama(const Metadata& m, const std::vector<std::string_view>& texts, TokenizerSpec& spec) {
  spec.model = ModelKind::kBpe;
  spec.merge_by_score = true;
  spec.byte_fallback = true;
  spec.prefix_every_segment = true;
  add_texts(texts, spec);
  NEREID_RETURN_IF_ERROR(read_scores(m, texts.size(), spec));
  NormalizerStep step{.kind = NormalizerKind::kSentencePiece};
  step.escape_spaces = true;
  step.prepend_space = m.bool_or("tokenizer.ggml.add_space_prefix", true);
  spec.normalizer.push_back(step);
  add_metaspace_decoder(step.prepend_space, spec);
  TokenizerSpec defaults;
  defaults.bos_id = 1;
  defaults.eos_id = 2;
  defaults.unknown_id = 0;
  read_ids(m, defaults, spec);
  read_affixes(m, {.bos = true}, kNoToken, spec);
  return Status::ok();
}

// SentencePiece unigram.
Status read_t5(const Metadata& m, const std::vector<std::string_view>& texts, TokenizerSpec& spec) {
  spec.model = ModelKind::kUnigram;
  spec.fuse_unknown = true;
  spec.prefix_every_segment = true;
  spec.byte_fallback = std::count(spec.types.begin(), spec.types.end(), TokenType::kByte) == 256;
  add_texts(texts, spec);
  NEREID_RETURN_IF_ERROR(read_scores(m, texts.size(), spec));
  NormalizerStep step{.kind = NormalizerKind::kSentencePiece};
  step.escape_spaces = true;
  step.collapse_spaces = m.bool_or("tokenizer.ggml.remove_extra_whitespaces", false);
  step.prepend_space = m.bool_or("tokenizer.ggml.add_space_prefix", false) || step.collapse_spaces;
  if (const auto* charsmap = m.ints("tokenizer.ggml.precompiled_charsmap")) {
    for (const int64_t byte : *charsmap) step.charsmap.push_back(static_cast<char>(byte));
  }
  const bool strips = step.prepend_space;
  spec.normalizer.push_back(std::move(step));
  add_metaspace_decoder(strips, spec);
  TokenizerSpec defaults;
  defaults.eos_id = 1;
  defaults.unknown_id = 2;
  defaults.padding_id = 0;
  read_ids(m, defaults, spec);
  read_affixes(m, {.eos = true}, kNoToken, spec);
  return Status::ok();
}

// WordPiece. The file marks the tokens that start a word with U+2581; here the others are marked with "##", as in
// BERT's own vocabulary.
Status read_bert(const Metadata& m, const std::vector<std::string_view>& texts, TokenizerSpec& spec) {
  spec.model = ModelKind::kWordPiece;
  spec.continuing_prefix = "##";
  spec.max_word_chars = 100;
  for (size_t id = 0; id < texts.size(); ++id) {
    const std::string_view text = texts[id];
    const bool bracketed = text.starts_with('[') && text.ends_with(']') && text.size() > 2;
    if (spec.types[id] != TokenType::kNormal || bracketed) {
      spec.tokens.add(text);
    } else if (text.starts_with(kMetaspaceUtf8)) {
      spec.tokens.add(text.substr(kMetaspaceUtf8.size()));
    } else {
      spec.tokens.add(std::string(spec.continuing_prefix).append(text));
    }
  }
  NormalizerStep step{.kind = NormalizerKind::kBert};
  step.clean_text = true;
  step.pad_cjk = true;
  step.lowercase = m.bool_or("tokenizer.ggml.normalizer.lowercase", true);
  step.strip_accents = m.bool_or("tokenizer.ggml.normalizer.strip_accents", step.lowercase);
  spec.normalizer.push_back(step);
  spec.pre_tokenizer.push_back({.kind = SplitKind::kBert});
  DecoderStep decoder{.kind = DecoderKind::kWordPiece};
  decoder.content = spec.continuing_prefix;
  decoder.cleanup = true;
  spec.decoder.push_back(decoder);
  TokenizerSpec defaults;
  defaults.bos_id = static_cast<int32_t>(m.int_or("tokenizer.ggml.cls_token_id", 101));
  defaults.unknown_id = 100;
  defaults.padding_id = 0;
  read_ids(m, defaults, spec);
  read_affixes(m, {.bos = true, .separator = true}, 102, spec);
  return Status::ok();
}

}  // namespace

Result<TokenizerSpec> spec_from_gguf(const Metadata& metadata, std::string* warning) {
  const std::vector<std::string_view>* texts = metadata.strings(kTokens);
  if (texts == nullptr || texts->empty()) return not_found("the file holds no vocabulary ({})", kTokens);
  TokenizerSpec spec;
  spec.source = "gguf";
  const std::string_view model = metadata.string_or("tokenizer.ggml.model", "");
  const std::string_view pre = metadata.string_or("tokenizer.ggml.pre", "");
  NEREID_RETURN_IF_ERROR(read_types(metadata, texts->size(), spec));
  if (model == "gpt2" || model == "gemma4") {
    NEREID_RETURN_IF_ERROR(read_bpe(metadata, model == "gemma4" ? "gemma4" : pre, *texts, warning, spec));
  } else if (model == "llama") {
    NEREID_RETURN_IF_ERROR(read_llama(metadata, *texts, spec));
  } else if (model == "t5") {
    NEREID_RETURN_IF_ERROR(read_t5(metadata, *texts, spec));
  } else if (model == "bert") {
    NEREID_RETURN_IF_ERROR(read_bert(metadata, *texts, spec));
  } else {
    return unsupported(
        "the tokenizer is of the kind '{}' (tokenizer.ggml.model); known kinds are gpt2, llama, t5, bert and gemma4",
        model);
  }
  read_added(metadata, *texts, spec);
  spec.chat_template = metadata.string_or("tokenizer.chat_template", "");
  // Files that were made without care mark end tokens as ordinary added ones: then any prompt could end a turn.
  collect_end_tokens(spec, EndTokenTrust::kTextDecides);
  return spec;
}

}  // namespace nereid::token
