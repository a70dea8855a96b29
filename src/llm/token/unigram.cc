// SPDX-License-Identifier: Apache-2.0
// Unigram language model: of all ways to cut the word into tokens the one with the highest sum of scores (Viterbi).
//
// A character that no token of its own covers costs the lowest score less a penalty. Source of the rules:
// SentencePiece.
#include <algorithm>
#include <limits>

#include "llm/token/model.h"
#include "llm/token/prefix_trie.h"
#include "llm/token/utf8.h"

namespace nereid::token {
namespace {

class Unigram final : public Model {
 public:
  explicit Unigram(const ModelVocabulary& vocabulary) : v_(vocabulary) {
    const TokenizerSpec& spec = *v_.spec;
    double lowest = 0, highest = 0;
    bool any = false;
    for (size_t id = 0; id < spec.tokens.size(); ++id) {
      if (spec.types[id] != TokenType::kNormal) continue;
      const double score = spec.scores[id];
      lowest = any ? std::min(lowest, score) : score;
      highest = any ? std::max(highest, score) : score;
      any = true;
    }
    highest_ = highest;
    unknown_score_ = lowest - spec.unknown_penalty;
    std::vector<int32_t> members;
    for (size_t id = 0; id < spec.tokens.size(); ++id) {
      const auto i = static_cast<int32_t>(id);
      // Of equal tokens the index keeps the first.
      if (v_.index.find(spec.tokens[id]) == i) members.push_back(i);
    }
    trie_ = PrefixTrie(spec.tokens, std::move(members));
  }

  void encode(std::string_view word, ModelScratch& scratch, std::vector<int32_t>& ids) const override {
    std::vector<ModelScratch::Best>& best = scratch.best;  // best[i]: the best way to cover word[0, i)
    best.assign(word.size() + 1, {-std::numeric_limits<double>::infinity(), kNoToken, 0});
    best[0].score = 0;
    for (size_t i = 0; i < word.size();) {
      const size_t char_size = std::min(promised_size(static_cast<unsigned char>(word[i])), word.size() - i);
      const double score_here = best[i].score;
      bool covered = false;  // by one token of exactly this character
      trie_.for_each_prefix(word.substr(i), [&](int32_t id, size_t size) {
        covered = covered || size == char_size;
        relax(best[i + size], score_here + score_of(id, size), id, i);
      });
      if (!covered) relax(best[i + char_size], score_here + unknown_score_, kNoToken, i);
      i += char_size;
    }
    write(word, scratch, ids);
  }

 private:
  static void relax(ModelScratch::Best& to, double score, int32_t id, size_t begin) {
    if (score > to.score) to = {score, id, static_cast<uint32_t>(begin)};
  }

  // A user-defined token always wins over the tokens it could be cut into.
  double score_of(int32_t id, size_t size) const {
    if (v_.spec->types[static_cast<size_t>(id)] == TokenType::kUserDefined) {
      return static_cast<double>(size) * highest_ - 0.1;
    }
    return v_.spec->scores[static_cast<size_t>(id)];
  }

  // Walks back from the end, turns the list round and writes it.
  void write(std::string_view word, ModelScratch& scratch, std::vector<int32_t>& ids) const {
    scratch.symbols.clear();
    for (size_t end = word.size(); end > 0;) {
      const ModelScratch::Best& b = scratch.best[end];
      scratch.symbols.push_back({.begin = b.begin, .size = static_cast<uint32_t>(end - b.begin), .id = b.id});
      end = b.begin;
    }
    const size_t word_start = ids.size();
    for (size_t i = scratch.symbols.size(); i-- > 0;) {
      const ModelScratch::Symbol& s = scratch.symbols[i];
      if (s.id != kNoToken) {
        ids.push_back(s.id);
      } else {
        append_unknown(v_, word.substr(s.begin, s.size), word_start, ids);
      }
    }
  }

  const ModelVocabulary& v_;
  PrefixTrie trie_;
  double unknown_score_ = 0;
  double highest_ = 0;
};

}  // namespace

std::unique_ptr<Model> make_unigram(const ModelVocabulary& vocabulary) {
  return std::make_unique<Unigram>(vocabulary);
}

}  // namespace nereid::token
