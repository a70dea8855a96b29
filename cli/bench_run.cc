// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_run.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/clock.h"
#include "base/interrupt.h"

namespace nereid::cli {
namespace {

constexpr int64_t kStepTokens = 512;  // as `nereid run` has it

// A token id that depends on the place alone.
int32_t token_at(int64_t sequence, int64_t position, int64_t vocab) {
  uint64_t x = static_cast<uint64_t>(sequence) * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(position) + 1;
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  x ^= x >> 31;
  return static_cast<int32_t>(x % static_cast<uint64_t>(vocab));
}

std::string without_numbers(std::string_view label) {
  std::string text;
  for (size_t i = 0; i < label.size(); ++i) {
    const bool digit = std::isdigit(static_cast<unsigned char>(label[i])) != 0;
    // "blk.12.attn" has a layer's number; the 8 of "linear.q8" belongs to a name.
    const bool numbered = digit && (i == 0 || label[i - 1] == '.' || (!text.empty() && text.back() == '#'));
    if (!numbered)
      text += label[i];
    else if (text.empty() || text.back() != '#')
      text += '#';
  }
  return text;
}

}  // namespace

std::string BenchCase::name() const {
  std::string text = fmt::format("{}{}", kind == Kind::kPrompt ? "pp" : "tg", tokens);
  return depth ? fmt::format("{}@d{}", text, depth) : text;
}

double BenchResult::best_seconds() const {
  return *std::min_element(seconds.begin(), seconds.end());
}

double BenchResult::median_seconds() const {
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const size_t n = sorted.size();
  return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

llm::LoadOptions BenchRunner::load_options(const std::vector<BenchCase>& cases) {
  llm::LoadOptions options;
  for (const BenchCase& c : cases) {
    options.context_tokens = std::max(options.context_tokens, c.depth + c.tokens);
    options.max_sequences = std::max(options.max_sequences, c.batch);
  }
  options.step_tokens = std::max(kStepTokens, options.max_sequences);
  options.max_outputs = options.max_sequences;
  return options;
}

void BenchRunner::push(int64_t sequence, int64_t position) {
  tokens_.push_back(token_at(sequence, position, model_.vocab()));
  positions_.push_back(static_cast<int32_t>(position));
  sequences_.push_back(static_cast<int32_t>(sequence));
}

Status BenchRunner::step(bool wants_logits) {
  NEREID_RETURN_IF_ERROR(check_interrupted());
  output_rows_.clear();
  const double weights = model_.bytes_per_token(0);
  bytes_ += weights;
  for (size_t i = 0; i < tokens_.size(); ++i) {
    // The last token of each sequence in the step sees all that the others of it see.
    if (i + 1 < tokens_.size() && sequences_[i + 1] == sequences_[i]) continue;
    bytes_ += model_.bytes_per_token(positions_[i]) - weights;
    if (wants_logits) output_rows_.push_back(static_cast<int32_t>(i));
  }
  const Status status = run();
  tokens_.clear();
  positions_.clear();
  sequences_.clear();
  ++steps_;
  return status;
}

// With a greedy draw where tokens are drawn on a device; else whoever draws reads the logits.
Status BenchRunner::run() {
  const llm::StepInput input{
      .tokens = tokens_, .positions = positions_, .sequences = sequences_, .output_rows = output_rows_};
  if (!model_.can_draw()) return model_.step(input);
  NEREID_RETURN_IF_ERROR(model_.start(input));
  draws_.clear();
  for (size_t i = 0; i < output_rows_.size(); ++i) draws_.add_greedy(static_cast<int32_t>(i));
  const Status begun = draws_.begin(model_);
  const Status finished = model_.finish();
  return begun.is_ok() ? finished : begun;
}

// Prompt after prompt; a step takes as many tokens as it can hold, of one sequence or of several.
Status BenchRunner::fill(int64_t begin, int64_t end, int64_t batch) {
  for (int64_t s = 0; s < batch; ++s) {
    for (int64_t p = begin; p < end; ++p) {
      push(s, p);
      const bool last = s + 1 == batch && p + 1 == end;
      if (last || static_cast<int64_t>(tokens_.size()) == model_.step_tokens())
        NEREID_RETURN_IF_ERROR(step(p + 1 == end));
    }
  }
  return Status::ok();
}

Status BenchRunner::generate(int64_t begin, int64_t end, int64_t batch) {
  for (int64_t p = begin; p < end; ++p) {
    for (int64_t s = 0; s < batch; ++s) push(s, p);
    NEREID_RETURN_IF_ERROR(step(true));
  }
  return Status::ok();
}

Status BenchRunner::once(const BenchCase& what) {
  bytes_ = 0;
  steps_ = 0;
  const int64_t end = what.depth + what.tokens;
  return what.kind == BenchCase::Kind::kPrompt ? fill(what.depth, end, what.batch)
                                               : generate(what.depth, end, what.batch);
}

Result<BenchResult> BenchRunner::run(const BenchCase& what, int repeats, const std::function<void()>& done) {
  NEREID_RETURN_IF_ERROR(fill(0, what.depth, what.batch));
  BenchResult result{.what = what};
  for (int i = 0; i <= repeats; ++i) {
    const int64_t start = now_ns();
    NEREID_RETURN_IF_ERROR(once(what));
    if (i > 0) result.seconds.push_back(static_cast<double>(now_ns() - start) / 1e9);
    if (done) done();
  }
  result.bytes = bytes_;
  return result;
}

Result<std::vector<BenchStepTime>> BenchRunner::profile(const BenchCase& what) {
  NEREID_RETURN_IF_ERROR(fill(0, what.depth, what.batch));
  const auto before = model_.context().profile();
  model_.context().set_profiling(true);
  const Status status = once(what);
  model_.context().set_profiling(false);
  NEREID_RETURN_IF_ERROR(status);
  const auto after = model_.context().profile();
  std::map<std::string, BenchStepTime> kinds;
  for (size_t i = 0; i < after.size(); ++i) {
    BenchStepTime& kind = kinds[without_numbers(after[i].first)];
    ++kind.steps;
    kind.us += static_cast<double>(after[i].second - before[i].second) / 1e3 / static_cast<double>(steps_);
  }
  std::vector<BenchStepTime> times;
  for (auto& [label, kind] : kinds) times.push_back({.label = label, .steps = kind.steps, .us = kind.us});
  std::stable_sort(times.begin(), times.end(),
                   [](const BenchStepTime& a, const BenchStepTime& b) { return a.us > b.us; });
  return times;
}

}  // namespace nereid::cli
