// SPDX-License-Identifier: Apache-2.0
// The three kinds of model: one word (a piece the pre-tokenizer made) in, ids out.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "llm/token/literal_matcher.h"
#include "llm/token/tokenizer_spec.h"

namespace nereid::token {

// The vocabulary as the models see it: owned by the Tokenizer, read by all.
struct ModelVocabulary {
  const TokenizerSpec* spec = nullptr;
  StringIndex index;                 // the tokens a word may become
  std::vector<int32_t> byte_tokens;  // 256 ids, kNoToken where missing: by value (byte-level) or for byte fallback
  size_t longest_token = 0;          // bytes
  LiteralMatcher user_defined;       // tokens the model itself must keep whole; empty unless user_defined_in_model
};

// Memory that one encode() call lends to the model; kept between words so that nothing is allocated for each.
struct ModelScratch {
  struct Symbol {
    uint32_t begin = 0, size = 0;  // bytes of the word; size 0: merged into its left neighbour
    int32_t id = kNoToken;
    int32_t previous = -1, next = -1;
    bool frozen = false;  // a user-defined token: takes no part in merges
  };
  struct Candidate {
    uint32_t rank = 0;  // lower first
    int32_t left = 0, right = 0;
    int32_t result = kNoToken;
    uint32_t size = 0;  // of both together, to see that neither has changed
  };
  struct Best {
    double score = 0;
    int32_t id = kNoToken;
    uint32_t begin = 0;
  };
  std::vector<Symbol> symbols;
  std::vector<Candidate> heap;
  std::vector<Best> best;
};

class Model {
 public:
  virtual ~Model() = default;
  // Appends the ids of `word` (not empty; valid UTF-8 for all but byte-level models). Any number of threads.
  virtual void encode(std::string_view word, ModelScratch& scratch, std::vector<int32_t>& ids) const = 0;
};

std::unique_ptr<Model> make_bpe(const ModelVocabulary& vocabulary);
std::unique_ptr<Model> make_unigram(const ModelVocabulary& vocabulary);
std::unique_ptr<Model> make_wordpiece(const ModelVocabulary& vocabulary);

// Appends what stands for text without a token: its byte tokens if the spec asks for them and all are there, else the
// unknown token (one for neighbours if the spec fuses them; `word_start` is where this word's ids begin), else nothing.
void append_unknown(const ModelVocabulary& vocabulary, std::string_view text, size_t word_start,
                    std::vector<int32_t>& ids);

}  // namespace nereid::token
