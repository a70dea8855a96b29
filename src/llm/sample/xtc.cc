// SPDX-License-Identifier: Apache-2.0
// XTC ("exclude top choices", p-e-w 2024): now and then all likely tokens are left out but the least likely of them.
#include <algorithm>

#include "llm/sample/philox.h"
#include "llm/sample/steps.h"

namespace nereid::sample {

void leave_out_top_choices(const ChainContext& chain, Candidates& c) {
  if (uniform(chain.params.seed, chain.step, kXtcStream) >= chain.params.xtc_probability) return;
  const double bound = weigh(c) * chain.params.xtc_threshold;
  size_t likely = 0;
  size_t last = 0;  // the worst of the likely ones
  for (size_t i = 0; i < c.items.size(); ++i) {
    if (c.weights[i] < bound) continue;
    if (likely++ == 0 || is_better(c.items[last], c.items[i])) last = i;
  }
  if (likely < 2) return;
  size_t kept = 0;
  for (size_t i = 0; i < c.items.size(); ++i) {
    if (c.weights[i] < bound || i == last) c.items[kept++] = c.items[i];
  }
  c.items.resize(kept);
}

}  // namespace nereid::sample
