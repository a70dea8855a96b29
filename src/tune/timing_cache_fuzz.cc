// SPDX-License-Identifier: Apache-2.0
// Whatever a cache's text is, what is read of it prints and reads again as the same, and each choice solves its
// problem.
#include <cstdint>

#include "base/check.h"
#include "kernels/cpu/tactic.h"
#include "tune/timing_cache.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nereid;
  const auto cache = tune::TimingCache::parse({reinterpret_cast<const char*>(data), size});
  const std::string text = cache.print();
  const auto again = tune::TimingCache::parse(text);
  NEREID_CHECK(again.print() == text && again.warning("").empty());
  for (const auto& [problem, tactic] : cache.choices({.machine = "m; kernels 1", .threads = 2}))
    NEREID_CHECK(kernels::solves(kernels::parse_tactic(tactic).value(), kernels::parse_problem(problem).value()));
  return 0;
}
