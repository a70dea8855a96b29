// SPDX-License-Identifier: Apache-2.0
// Times a language model: prompts of so many tokens, then so many tokens one by one, for a batch of sequences.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "llm/run/language_model.h"
#include "llm/run/row_draws.h"

namespace nereid::cli {

struct BenchCase {
  enum class Kind : uint8_t { kPrompt, kGenerate } kind = Kind::kPrompt;
  int64_t tokens = 0;  // of one sequence
  int64_t batch = 1;   // sequences: their prompts share steps as far as they fit; a step generates one token of each
  int64_t depth = 0;   // tokens that are in the cache of each sequence before

  std::string name() const;  // "pp512", "tg128", "tg128@d1024"
};

struct BenchResult {
  BenchCase what;
  std::vector<double> seconds;  // of each repeat, at least one
  // What one repeat has to read at least: all weights once a step, the keys and values before each token once.
  double bytes = 0;

  int64_t tokens() const { return what.tokens * what.batch; }
  double best_seconds() const;
  double median_seconds() const;  // of an even number: the mean of the middle two
  double best_tokens_per_second() const { return static_cast<double>(tokens()) / best_seconds(); }
  double median_tokens_per_second() const { return static_cast<double>(tokens()) / median_seconds(); }
  double best_bytes_per_second() const { return bytes / best_seconds(); }
  double bytes_per_token() const { return bytes / static_cast<double>(tokens()); }
};

// Steps of one kind, the layers' numbers left out.
struct BenchStepTime {
  std::string label;  // "linear %blk.#.attn_qkv"
  int64_t steps = 0;  // of this kind in the plan
  double us = 0;      // of all of them, a run of the plan
};

// Runs cases on a model that was loaded with room for the largest of them (see load_options). The token ids are random
// but the same every time. The content of the model's cache is lost. One thread at a time.
class BenchRunner {
 public:
  explicit BenchRunner(llm::LanguageModel& model) : model_(model) {}

  // What to load the model with so that all cases fit; `context` receives the longest sequence.
  static llm::LoadOptions load_options(const std::vector<BenchCase>& cases);

  // Fills the depth, warms up once, then times `repeats` runs; `done` is called after each, the warm-up too.
  // kCancelled on Ctrl-C.
  Result<BenchResult> run(const BenchCase& what, int repeats, const std::function<void()>& done = {});
  // One more run, timed step by step; kinds in the order of their time, longest first.
  Result<std::vector<BenchStepTime>> profile(const BenchCase& what);

 private:
  Status once(const BenchCase& what);
  Status fill(int64_t begin, int64_t end, int64_t batch);
  Status generate(int64_t begin, int64_t end, int64_t batch);
  Status step(bool wants_logits);
  Status run();
  void push(int64_t sequence, int64_t position);

  llm::LanguageModel& model_;
  std::vector<int32_t> tokens_, positions_, sequences_, output_rows_;  // of the step that is being put together
  llm::RowDraws draws_;
  double bytes_ = 0;  // read since the case began
  int64_t steps_ = 0;
};

}  // namespace nereid::cli
