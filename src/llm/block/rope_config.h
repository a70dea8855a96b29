// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding: what a model's files say of it, and the frequencies that follow.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace nereid::llm {

// How frequencies are stretched beyond the context a model was trained on.
enum class RopeScaling : uint8_t { kNone, kLinear, kDynamic, kLlama3, kYarn, kLongRope };

struct RopeConfig {
  double theta = 10000;
  int64_t dim = 0;           // rotated elements of each head: even, at most head_dim
  bool interleaved = false;  // pairs (2j, 2j+1) instead of (j, j + dim/2)

  RopeScaling scaling = RopeScaling::kNone;
  double factor = 1;                       // all but kNone
  int64_t original_context = 0;            // tokens, before stretching
  std::optional<double> attention_factor;  // kYarn, kLongRope: overrides the multiplier of cos and sin
  double low_freq_factor = 1;              // kLlama3
  double high_freq_factor = 4;             // kLlama3
  double beta_fast = 32;                   // kYarn
  double beta_slow = 1;                    // kYarn
  bool truncate = true;                    // kYarn: correction range rounded outwards to whole pairs
  double mscale = 0;                       // kYarn; 0: not given
  double mscale_all_dim = 0;               // kYarn; 0: not given
  std::vector<double> short_factors;       // kLongRope: dim/2 divisors up to original_context
  std::vector<double> long_factors;        // kLongRope: dim/2 divisors beyond it
  std::vector<double> divisors;            // dim/2 divisors stored with the weights (llama3 in GGUF); may be empty
};

struct RopeTable {
  std::vector<float> inv_freq;  // dim/2 angles a position
  double scale = 1;             // multiplies cos and sin
};

// The frequencies for sequences of at most `max_context` tokens. kDynamic and kLongRope depend on the length; it is
// decided once per build, because keys already in the cache were rotated by the old frequencies when a sequence grows.
// Formulas: the papers' (linear, NTK-aware, YaRN arXiv 2309.00071, LongRoPE arXiv 2402.13753) and Llama 3.1's published
// rule. `config` must have passed check_rope().
RopeTable rope_table(const RopeConfig& config, int64_t max_context);

}  // namespace nereid::llm
