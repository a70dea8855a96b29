// SPDX-License-Identifier: Apache-2.0
// A smaller model of the same vocabulary that guesses what a larger one will say, for the larger one to check many
// guesses in one step.
//
// A guess is drawn by the answer's own parameters and the same random number that the larger model will draw the token
// with: greedy guesses are its best tokens, others agree as often as the two distributions do. The larger model then
// draws as it would have without guesses and keeps those that came out the same. So guesses change the time alone, and
// an answer stays the same whatever else is in the batch; acceptance by chance (Leviathan et al. 2023) would accept a
// few more, but make the tokens depend on how many guesses there was room for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "llm/run/language_model.h"
#include "llm/sample/sampler.h"

namespace nereid::llm {

// What an answer wants guessed.
struct DraftAsk {
  uint64_t answer = 0;                      // who asks: the same number while its text grows
  std::span<const int32_t> history;         // prompt and answer so far
  const sample::Sampler* drawer = nullptr;  // that draws the answer
  int32_t most = 0;                         // guesses wanted
};

struct DraftOptions {
  int64_t answers = 16;  // whose texts are remembered at one time
  int64_t step_tokens = 512;
};

// One thread at a time. Remembers the keys and values of the answers' texts, at most so many; who was not asked about
// for the longest time is forgotten first.
class DraftModel {
 public:
  // How a model is to be loaded for this; isa and context are the caller's to add.
  static LoadOptions load_options(const DraftOptions& options);
  // `model` is the one whose tokens are guessed. kInvalidArgument: the two have other vocabularies (the first token
  // that differs is named), or `draft` was not loaded as load_options() says. Both must outlive it.
  static Result<std::unique_ptr<DraftModel>> make(LanguageModel& draft, LanguageModel& model,
                                                  const DraftOptions& options);

  // Appends guesses to guesses[i] for asks[i]: fewer than wanted, or none, where the text does not fit into the draft's
  // context or memory, or its parameters leave nothing to draw.
  Status guess(std::span<const DraftAsk> asks, std::span<std::vector<int32_t>* const> guesses);
  void forget(uint64_t answer);
  // The next answer of that number may have other parameters; its text is kept.
  void begin(uint64_t answer);

  int64_t max_answers() const { return static_cast<int64_t>(slots_.size()); }

 private:
  struct Slot {
    std::optional<uint64_t> answer;
    uint64_t used = 0;          // the round of its last use
    std::vector<int32_t> held;  // tokens whose keys and values are there
    std::vector<int32_t> pages;
    std::optional<sample::Sampler> sampler;
  };
  // An ask that is being worked on.
  struct Turn {
    size_t ask = 0, slot = 0;
    std::vector<int32_t> text;  // history and guesses
    size_t next = 0;            // the first token that has not been run
    int32_t left = 0;           // guesses to come
  };

  DraftModel(LanguageModel& draft, LanguageModel& model, const DraftOptions& options);
  std::optional<size_t> slot_of(uint64_t answer);
  void empty(Slot& slot);
  bool grow(size_t slot, size_t tokens);
  Status prepare(const DraftAsk& ask, Slot& slot, Turn& turn);
  Status step(std::vector<Turn>& turns, std::span<std::vector<int32_t>* const> guesses);

  LanguageModel& draft_;
  LanguageModel& model_;
  const DraftOptions options_;
  std::vector<Slot> slots_;
  std::unordered_map<uint64_t, size_t> slot_of_;
  std::vector<int32_t> free_pages_;
  uint64_t round_ = 0;
  // Of a step; all keep their memory.
  std::vector<int32_t> tokens_, positions_, sequences_, rows_;
  std::vector<size_t> drawn_;  // turns whose row it is
};

}  // namespace nereid::llm
