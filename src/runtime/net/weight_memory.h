// SPDX-License-Identifier: Apache-2.0
// Weights that are only read to be packed need not stay beside their packed forms: their memory goes back to the system
// once a form holds all of their bytes, and comes back from that form when another one is made.
//
// Only large constants may leave that nothing reads but products and convolutions as their matrix, and that share no
// byte with another constant. Steps that read one as it is keep it for good.
#pragma once

#include <functional>
#include <map>
#include <mutex>

#include "graph/graph.h"

namespace nereid::runtime {

class WeightMemory {
 public:
  // Looks at a graph whose constants are memory of this process (not of a mapped file, which cannot be written).
  explicit WeightMemory(const graph::Graph& graph);

  // Thread safe, all of them. `data` may be anything; what is not among these constants is left alone.
  using Restore = std::function<void(std::byte* raw)>;
  void want(const void* data);  // its bytes are about to be read
  void keep(const void* data);  // ... now and later
  void release(const void* data, Restore restore);

  int64_t released_bytes() const;

 private:
  struct Weight {
    int64_t bytes = 0;
    bool kept = false;
    Restore restore;  // empty: the bytes are there
  };
  void bring_back(const void* data, Weight& weight);

  mutable std::mutex mutex_;
  std::map<const void*, Weight> weights_;
};

}  // namespace nereid::runtime
