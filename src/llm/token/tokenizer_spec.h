// SPDX-License-Identifier: Apache-2.0
// What a tokenizer is, as plain data: the vocabulary, the model and the steps around it. Each source (GGUF metadata,
// tokenizer.json, tokenizer.model, tiktoken ranks) is read into a TokenizerSpec; make_tokenizer() makes it run.
//
//   text -> added tokens cut out -> normalizer steps -> pre-tokenizer steps -> model (ids) -> prefix/suffix ids
//   ids  -> decoder steps -> text
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/metadata.h"
#include "base/status.h"
#include "llm/token/string_table.h"

namespace nereid::token {

inline constexpr int32_t kNoToken = -1;

enum class ModelKind : uint8_t { kBpe, kUnigram, kWordPiece };

// Numbered as SentencePiece and GGUF do.
enum class TokenType : uint8_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,      // never produced from text unless special tokens are parsed
  kUserDefined = 4,  // always one token, wherever its text stands
  kUnused = 5,
  kByte = 6,  // "<0x41>": one byte of a character that has no token
};

// BPE: `left` and `right` side by side become `result`. The order in the list is the rank.
struct Merge {
  int32_t left, right, result;
};

enum class NormalizerKind : uint8_t {
  kNfc,
  kNfd,
  kNfkc,
  kNfkd,
  kLowercase,
  kStripAccents,   // removes combining marks
  kNmt,            // removes control characters, all white space becomes a space
  kBert,           // clean_text, pad_cjk, strip_accents, lowercase
  kPrepend,        // content, unless the text is empty
  kReplace,        // pattern (literal or regex) -> content
  kStrip,          // white space: left, right
  kPrecompiled,    // charsmap, as the Hugging Face library applies it: grapheme by grapheme
  kSentencePiece,  // charsmap, collapse_spaces, prepend_space, escape_spaces, as SentencePiece applies them
  kByteLevel,      // bytes to the printable stand-in characters of GPT-2
};
struct NormalizerStep {
  NormalizerKind kind = NormalizerKind::kNfc;
  std::string pattern;
  std::string content;
  std::string charsmap;  // SentencePiece's compiled replacement trie
  bool regex = false;
  bool left = false, right = false;
  bool clean_text = false, pad_cjk = false, strip_accents = false, lowercase = false;
  bool collapse_spaces = false, prepend_space = false, escape_spaces = false;
};

enum class SplitBehavior : uint8_t { kIsolated, kRemoved, kMergedWithPrevious, kMergedWithNext, kContiguous };
enum class PrependScheme : uint8_t { kNever, kFirst, kAlways };
enum class SplitKind : uint8_t {
  kPattern,         // pattern (literal or regex), behavior, invert
  kByteLevel,       // prepend: a space before each part; regex: GPT-2's pattern first. Then the model sees bytes.
  kDigits,          // numbers apart; each on its own with individual
  kPunctuation,     // behavior
  kBert,            // white space removed, punctuation isolated
  kWhitespace,      // runs of word characters, runs of others, white space removed
  kWhitespaceOnly,  // white space removed
  kMetaspace,       // space -> content; prepend; regex: split before each content
  kFixedLength,     // pieces of `length` characters
};
struct SplitStep {
  SplitKind kind = SplitKind::kPattern;
  std::string pattern;
  std::string content;
  SplitBehavior behavior = SplitBehavior::kIsolated;
  PrependScheme prepend = PrependScheme::kNever;
  bool regex = false;
  bool invert = false;
  bool individual = false;
  uint32_t length = 0;
};

enum class DecoderKind : uint8_t {
  kByteLevel,      // stand-in characters back to bytes (nothing to do where the vocabulary holds bytes)
  kReplace,        // pattern -> content, in each token
  kByteFallback,   // byte tokens to their byte
  kFuse,           // all tokens become one text: what follows acts on the whole
  kStrip,          // up to `start` of `content` (one character) at the start, up to `stop` at the end
  kMetaspace,      // content -> space; with prepend other than kNever the first token's leading space goes
  kWordPiece,      // content is the continuation prefix; other tokens get a space before them; cleanup
  kSentencePiece,  // content -> space; start: the text's first token loses it, cleanup: so do more while there is no
                   // text
  kSuffix,         // BPEDecoder: content (a word's end) -> space, at the last token nothing
};
struct DecoderStep {
  DecoderKind kind = DecoderKind::kFuse;
  std::string pattern;
  std::string content;
  PrependScheme prepend = PrependScheme::kNever;
  uint32_t start = 0, stop = 0;
  bool cleanup = false;
};

struct AddedToken {
  int32_t id = kNoToken;
  std::string text;
  bool special = false;      // left out of decoded text on request; found in text only when special tokens are parsed
  bool left_strip = false;   // takes the white space before it
  bool right_strip = false;  // and after it
  bool single_word = false;  // only between non-word characters
  bool normalized = false;   // looked for in the normalized text
};

struct TokenizerSpec {
  std::string source;  // where it came from, for messages: "gguf", "tokenizer.json", ...

  // The vocabulary. Byte-level tokens are held as the bytes they stand for.
  ModelKind model = ModelKind::kBpe;
  StringTable tokens;
  std::vector<TokenType> types;  // as many as tokens
  std::vector<float> scores;     // kUnigram and merge_by_score: as many as tokens; else empty
  std::vector<Merge> merges;     // kBpe without merge_by_score

  bool byte_level = false;             // the model works on bytes
  bool merge_by_score = false;         // SentencePiece BPE: any two neighbours whose joined text is a token may merge
  bool ignore_merges = false;          // a whole word that is a token needs no merging
  bool byte_fallback = false;          // unknown characters become byte tokens
  bool fuse_unknown = false;           // neighbouring unknown tokens become one
  bool user_defined_in_model = false;  // user-defined tokens are found by the model, not cut out before
  bool prefix_every_segment = false;   // prepend_space after each cut-out token, not only at the text's start
  std::string unknown_surface;    // what the unknown token decodes to; empty: its own text, and it counts as special
  std::string continuing_prefix;  // "##"
  std::string word_suffix;        // "</w>"
  uint32_t max_word_chars = 0;    // kWordPiece: longer words are unknown; 0 means no bound
  float unknown_penalty = 10.0f;  // kUnigram: below the lowest score

  std::vector<NormalizerStep> normalizer;
  std::vector<SplitStep> pre_tokenizer;
  std::vector<DecoderStep> decoder;
  std::vector<AddedToken> added;

  std::vector<int32_t> prefix_ids;  // put before and after the text with EncodeOptions::add_special
  std::vector<int32_t> suffix_ids;
  // Between two texts that are read together; what stands before and behind them is as for one.
  std::vector<int32_t> middle_ids;
  uint32_t second_type = 0;  // of the second text and of what stands behind it; the rest is of type 0

  int32_t bos_id = kNoToken, eos_id = kNoToken, eot_id = kNoToken, unknown_id = kNoToken, padding_id = kNoToken;
  std::vector<int32_t> end_of_generation;  // sorted

  std::string chat_template;                                         // Jinja text, empty if there is none
  std::vector<std::pair<std::string, std::string>> named_templates;  // further ones: "tool_use", "rag"

  // Every id in range, every list of the right length. make_tokenizer() calls it.
  Status validate() const;

  // The form an engine file carries, all keys below "nereid.tokenizer."; reading it back takes milliseconds.
  Status to_metadata(Metadata& out) const;
  static Result<TokenizerSpec> from_metadata(const Metadata& metadata);
  static bool is_in(const Metadata& metadata);
};

}  // namespace nereid::token
