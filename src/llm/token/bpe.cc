// SPDX-License-Identifier: Apache-2.0
// Byte-pair encoding: start from bytes or characters, merge the best pair of neighbours until none merges.
//
// Two ways to rank a pair: its place in the merge list (GPT-2 and kin), or the score of the token that both together
// spell (SentencePiece). Equal ranks: the leftmost pair first. Short words are scanned for the best pair each time;
// long ones use a heap, n log n in the length of the word.
#include <algorithm>
#include <array>
#include <numeric>

#include "llm/token/merge_table.h"
#include "llm/token/model.h"
#include "llm/token/utf8.h"

namespace nereid::token {
namespace {

using Symbol = ModelScratch::Symbol;
using Candidate = ModelScratch::Candidate;

// Below this many symbols scanning beats the heap.
constexpr size_t kShortWord = 40;

// Ranks by the merge list.
class MergeListRanks {
 public:
  explicit MergeListRanks(const ModelVocabulary& v) : table_(v.spec->merges) {}
  MergeTable::Entry find(std::string_view, const Symbol& left, const Symbol& right) const {
    return table_.find(left.id, right.id);
  }

 private:
  MergeTable table_;
};

// Ranks by score: the token with the n-th best score has rank n, equal scores have equal ranks.
class ScoreRanks {
 public:
  explicit ScoreRanks(const ModelVocabulary& v) : vocabulary_(&v), rank_(v.spec->tokens.size()) {
    const std::vector<float>& scores = v.spec->scores;
    std::vector<uint32_t> order(rank_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return scores[a] > scores[b]; });
    for (size_t i = 0; i < order.size(); ++i) {
      const bool equal = i > 0 && scores[order[i]] == scores[order[i - 1]];
      rank_[order[i]] = equal ? rank_[order[i - 1]] : static_cast<uint32_t>(i);
    }
  }
  MergeTable::Entry find(std::string_view word, const Symbol& left, const Symbol& right) const {
    const size_t size = size_t{left.size} + right.size;
    if (left.frozen || right.frozen || size > vocabulary_->longest_token) return {};
    const int32_t id = vocabulary_->index.find(word.substr(left.begin, size));
    if (id == StringIndex::kNone) return {};
    return {rank_[static_cast<size_t>(id)], id};
  }

 private:
  const ModelVocabulary* vocabulary_;
  std::vector<uint32_t> rank_;
};

template <typename Ranks>
class Bpe final : public Model {
 public:
  explicit Bpe(const ModelVocabulary& vocabulary)
      : v_(vocabulary),
        affixes_(!v_.spec->continuing_prefix.empty() || !v_.spec->word_suffix.empty()),
        ranks_(vocabulary) {}

  void encode(std::string_view word, ModelScratch& scratch, std::vector<int32_t>& ids) const override {
    if (v_.spec->ignore_merges) {
      if (const int32_t id = v_.index.find(word); id != StringIndex::kNone) {
        ids.push_back(id);
        return;
      }
    }
    std::vector<Symbol>& symbols = scratch.symbols;
    symbols.clear();
    if (v_.spec->byte_level) {
      split_bytes(word, symbols);
    } else {
      split_characters(word, symbols);
    }
    if (symbols.size() <= kShortWord) {
      merge_by_scanning(word, symbols);
    } else {
      merge_by_heap(word, symbols, scratch.heap);
    }
    const size_t word_start = ids.size();
    for (const Symbol& s : symbols) {
      if (s.size == 0) continue;
      if (s.id != kNoToken) {
        ids.push_back(s.id);
      } else {
        append_unknown(v_, word.substr(s.begin, s.size), word_start, ids);
      }
    }
  }

 private:
  void split_bytes(std::string_view word, std::vector<Symbol>& symbols) const {
    for (size_t i = 0; i < word.size(); ++i) {
      symbols.push_back(
          {.begin = static_cast<uint32_t>(i), .size = 1, .id = v_.byte_tokens[static_cast<unsigned char>(word[i])]});
    }
  }

  void split_characters(std::string_view word, std::vector<Symbol>& symbols) const {
    for (size_t i = 0; i < word.size();) {
      Symbol s{.begin = static_cast<uint32_t>(i)};
      if (const LiteralMatcher::Match m = v_.user_defined.match_at(word, i); m.size) {
        s.size = static_cast<uint32_t>(m.size);
        s.id = m.value;
        s.frozen = true;
      } else {
        s.size = static_cast<uint32_t>(std::min(promised_size(static_cast<unsigned char>(word[i])), word.size() - i));
        s.id = character_id(word, i, s.size);
      }
      i += s.size;
      symbols.push_back(s);
    }
  }

  int32_t character_id(std::string_view word, size_t begin, size_t size) const {
    const std::string_view character = word.substr(begin, size);
    if (!affixes_) return v_.index.find(character);
    std::string text;
    if (begin > 0) text += v_.spec->continuing_prefix;
    text += character;
    if (begin + size == word.size()) text += v_.spec->word_suffix;
    return v_.index.find(text);
  }

  void merge_by_scanning(std::string_view word, std::vector<Symbol>& symbols) const {
    std::array<MergeTable::Entry, kShortWord> pair;  // pair[i]: the merge of symbols i and i + 1
    size_t n = symbols.size();
    const auto rank_pair = [&](size_t i) { pair[i] = ranks_.find(word, symbols[i], symbols[i + 1]); };
    for (size_t i = 0; i + 1 < n; ++i) rank_pair(i);
    while (n > 1) {
      size_t best = 0;
      for (size_t i = 1; i + 1 < n; ++i)
        if (pair[i].rank < pair[best].rank) best = i;
      if (pair[best].rank == MergeTable::kNoRank) break;
      symbols[best].id = pair[best].result;
      symbols[best].size += symbols[best + 1].size;
      std::copy(symbols.begin() + static_cast<ptrdiff_t>(best) + 2, symbols.begin() + static_cast<ptrdiff_t>(n),
                symbols.begin() + static_cast<ptrdiff_t>(best) + 1);
      std::copy(pair.begin() + best + 1, pair.begin() + n - 1, pair.begin() + best);
      --n;
      if (best > 0) rank_pair(best - 1);
      if (best + 1 < n) rank_pair(best);
    }
    symbols.resize(n);
  }

  void merge_by_heap(std::string_view word, std::vector<Symbol>& symbols, std::vector<Candidate>& heap) const {
    const auto worse = [](const Candidate& a, const Candidate& b) {
      return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
    };
    const auto candidate = [&](int32_t left, int32_t right) -> Candidate {
      const Symbol& l = symbols[static_cast<size_t>(left)];
      const Symbol& r = symbols[static_cast<size_t>(right)];
      const MergeTable::Entry e = ranks_.find(word, l, r);
      return {e.rank, left, right, e.result, l.size + r.size};
    };
    const auto n = static_cast<int32_t>(symbols.size());
    heap.clear();
    for (int32_t i = 0; i < n; ++i) {
      symbols[static_cast<size_t>(i)].previous = i - 1;
      symbols[static_cast<size_t>(i)].next = i + 1 < n ? i + 1 : -1;
      if (i + 1 < n) {
        if (const Candidate c = candidate(i, i + 1); c.rank != MergeTable::kNoRank) heap.push_back(c);
      }
    }
    std::make_heap(heap.begin(), heap.end(), worse);
    const auto push = [&](int32_t left, int32_t right) {
      if (left < 0 || right < 0) return;
      const Candidate c = candidate(left, right);
      if (c.rank == MergeTable::kNoRank) return;
      heap.push_back(c);
      std::push_heap(heap.begin(), heap.end(), worse);
    };
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), worse);
      const Candidate c = heap.back();
      heap.pop_back();
      Symbol& left = symbols[static_cast<size_t>(c.left)];
      Symbol& right = symbols[static_cast<size_t>(c.right)];
      // Out of date: one of the two has merged with another since.
      if (left.size == 0 || right.size == 0 || left.next != c.right || left.size + right.size != c.size) continue;
      left.size += right.size;
      left.id = c.result;
      left.next = right.next;
      right.size = 0;
      if (left.next >= 0) symbols[static_cast<size_t>(left.next)].previous = c.left;
      push(left.previous, c.left);
      push(c.left, left.next);
    }
  }

  const ModelVocabulary& v_;
  const bool affixes_;
  const Ranks ranks_;
};

}  // namespace

std::unique_ptr<Model> make_bpe(const ModelVocabulary& vocabulary) {
  if (vocabulary.spec->merge_by_score) return std::make_unique<Bpe<ScoreRanks>>(vocabulary);
  return std::make_unique<Bpe<MergeListRanks>>(vocabulary);
}

}  // namespace nereid::token
