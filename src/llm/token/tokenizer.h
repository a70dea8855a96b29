// SPDX-License-Identifier: Apache-2.0
// Text to token ids and back. Immutable once made: any number of threads may share one Tokenizer.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "llm/token/tokenizer_spec.h"

namespace nereid::token {

struct EncodeOptions {
  bool add_special = true;     // the ids the model wants around a text: BOS, EOS, [CLS] ... [SEP]
  bool parse_special = false;  // texts such as "<|im_end|>" become their special token
};

struct DecodeOptions {
  bool skip_special = true;  // special tokens give no text
  bool raw_bytes = false;    // give ill-formed UTF-8 as it is, instead of U+FFFD
};

class Tokenizer {
 public:
  ~Tokenizer();

  // Bytes of `text` that are no UTF-8 count as U+FFFD. Time grows nearly linearly with the text.
  // kExhausted if a pattern of the model's pre-tokenizer runs out of its bounds on this text.
  Result<std::vector<int32_t>> encode_checked(std::string_view text, EncodeOptions options = {}) const;
  // The same, but text on which a pattern fails is taken as one word: never fails, rarely differs.
  std::vector<int32_t> encode(std::string_view text, EncodeOptions options = {}) const;

  // Ids out of range give nothing.
  std::string decode(std::span<const int32_t> ids, DecodeOptions options = {}) const;

  // The bytes of one token as they stand inside a text (often not whole characters); empty if out of range.
  std::string_view piece(int32_t id) const;
  // The token whose vocabulary text (as in the model's files; for byte-level models also its bytes) is `text`.
  int32_t token_to_id(std::string_view text) const;

  int32_t vocab_size() const;
  int32_t bos_id() const { return spec().bos_id; }
  int32_t eos_id() const { return spec().eos_id; }
  int32_t unknown_id() const { return spec().unknown_id; }
  int32_t padding_id() const { return spec().padding_id; }
  bool is_special(int32_t id) const;
  bool is_end_of_generation(int32_t id) const;

  const std::string& chat_template() const { return spec().chat_template; }
  // The data it was made from (for an engine file, for messages).
  const TokenizerSpec& spec() const;

 private:
  friend class IncrementalDetokenizer;
  friend Result<std::unique_ptr<Tokenizer>> make_tokenizer(TokenizerSpec spec);
  struct Impl;
  explicit Tokenizer(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

// Checks the spec, compiles its patterns and builds the tables.
Result<std::unique_ptr<Tokenizer>> make_tokenizer(TokenizerSpec spec);

// Tokens of a running generation to text, never half a character: bytes that may still become a character wait for the
// next token; bytes that cannot become U+FFFD at once. One per sequence; the Tokenizer must outlive it.
class IncrementalDetokenizer {
 public:
  explicit IncrementalDetokenizer(const Tokenizer& tokenizer, DecodeOptions options = {});
  // The text is a continuation: the first token keeps its leading space.
  void continue_text() {
    at_start_ = false;
    to_strip_ = 0;
  }
  // The text that this token makes final; may be empty.
  std::string push(int32_t id);
  // What is left: an unfinished character becomes U+FFFD.
  std::string flush();

 private:
  const Tokenizer& tokenizer_;
  DecodeOptions options_;
  std::string pending_;  // at most 3 bytes of an unfinished character
  bool at_start_ = true;
  uint32_t to_strip_;  // leading characters still to be left out
};

}  // namespace nereid::token
