// SPDX-License-Identifier: Apache-2.0
// Elements of any size copied from one regular arrangement to another: transposes, slices, expansions, pieces of
// concatenations. Bound by memory.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/net/step.h"

namespace nereid::runtime {

struct CopyDim {
  int64_t size, src, dst;  // elements between neighbours; src 0 repeats, negative goes backwards
};

// dst[i . dst] = src[i . src] for every index i. Elements of 1, 2, 4, 8 or 16 bytes.
class StridedCopyStep final : public NetStep {
 public:
  // Dimensions of size 1 are dropped and neighbours that step evenly merged.
  StridedCopyStep(std::vector<CopyDim> dims, int64_t element_bytes);
  void run(Worker& worker) override;

  const std::byte* src = nullptr;
  std::byte* dst = nullptr;

 private:
  template <typename T>
  void copy_rows(int64_t begin, int64_t end) const;
  std::vector<CopyDim> dims_;  // the innermost last; at least one
  int64_t element_bytes_;
  int64_t rows_ = 1;  // of the innermost dimension
};

}  // namespace nereid::runtime
