// SPDX-License-Identifier: Apache-2.0
// How large a part of a prompt may run beside answers, from what steps have
// taken so far.
//
// A step of n answers and p prompt tokens takes about base(n) + p * each. Both
// are learned as averages that forget; the part is the largest p that keeps a
// step within `stretch` times base(n). A fixed number could not do that: what a
// prompt token costs beside an answer's differs by a factor of twenty between
// machines. Where other prompts wait behind the one at hand, more is borne the
// longer they do: small parts cost steps, and a queue that grows helps nobody.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nereid::schedule {

class Pace {
 public:
  explicit Pace(double stretch) : stretch_(stretch) {}

  void learn(int32_t answers, int32_t prompt_tokens, int64_t took_us);
  // At least `least`, at most `most`, which it is as long as nothing is known.
  // Now and then 0: base(n) is learned anew. `behind_us`: how long the prompts
  // behind the one at hand have waited.
  int32_t prompt_tokens(int32_t answers, int64_t behind_us, int32_t least, int32_t most);

 private:
  // Of steps without prompts, by the logarithm of the number of answers: a
  // batch reads the weights once.
  static constexpr size_t kSizes = 12;
  double base_us(int32_t answers) const;  // 0: unknown

  double stretch_;
  std::array<double, kSizes> base_us_{};       // 0: unknown
  std::array<int32_t, kSizes> steps_since_{};  // it was learned
  double each_us_ = 0;
};

}  // namespace nereid::schedule
