// SPDX-License-Identifier: Apache-2.0
// WordPiece: take the longest token that starts the rest of the word, again and again; one gap makes the whole word
// unknown.
#include <algorithm>

#include "llm/token/model.h"
#include "llm/token/utf8.h"

namespace nereid::token {
namespace {

size_t count_chars(std::string_view word) {
  return static_cast<size_t>(
      std::count_if(word.begin(), word.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

class WordPiece final : public Model {
 public:
  explicit WordPiece(const ModelVocabulary& vocabulary) : v_(vocabulary) {}

  void encode(std::string_view word, ModelScratch&, std::vector<int32_t>& ids) const override {
    const size_t word_start = ids.size();
    if (v_.spec->max_word_chars && count_chars(word) > v_.spec->max_word_chars) return unknown(ids);
    std::string prefixed;
    for (size_t begin = 0; begin < word.size();) {
      size_t size = std::min(word.size() - begin, v_.longest_token);
      int32_t id = kNoToken;
      for (; size > 0; --size) {
        if (begin + size < word.size() && (static_cast<unsigned char>(word[begin + size]) & 0xC0) == 0x80) continue;
        const std::string_view piece = word.substr(begin, size);
        if (begin == 0) {
          id = v_.index.find(piece);
        } else {
          prefixed.assign(v_.spec->continuing_prefix).append(piece);
          id = v_.index.find(prefixed);
        }
        if (id != kNoToken) break;
      }
      if (id == kNoToken) {
        ids.resize(word_start);
        return unknown(ids);
      }
      ids.push_back(id);
      begin += size;
    }
  }

 private:
  void unknown(std::vector<int32_t>& ids) const {
    if (v_.spec->unknown_id != kNoToken) ids.push_back(v_.spec->unknown_id);
  }
  const ModelVocabulary& v_;
};

}  // namespace

std::unique_ptr<Model> make_wordpiece(const ModelVocabulary& vocabulary) {
  return std::make_unique<WordPiece>(vocabulary);
}

}  // namespace nereid::token
