// SPDX-License-Identifier: Apache-2.0
// Mirostat (Basu et al. 2021): keeps the surprise of the tokens drawn near a target, in place of top-k and top-p.
//
// The bound mu moves with each token by its surprise; it is all the state there is (SamplerState::mirostat_mu).
#pragma once

#include <span>
#include <vector>

#include "llm/sample/steps.h"

namespace nereid::sample {

// What mu begins with: twice the target.
inline float mirostat_start(const SamplingParams& params) {
  return 2 * params.mirostat_tau;
}
// Gathers the candidates, with temperature applied. Version 1 keeps as many of the best tokens as, under Zipf's law
// fitted to the first hundred, have the surprise mu; version 2 keeps the tokens whose surprise is at most mu. One at
// least.
void gather_mirostat(const ChainContext& chain, float mu, std::span<const float> logits, std::vector<float>* maxima,
                     Candidates* c);
// mu after a token that was drawn with this probability among those kept.
float mirostat_moved(const SamplingParams& params, float mu, double probability);

}  // namespace nereid::sample
