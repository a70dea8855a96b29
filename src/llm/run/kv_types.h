// SPDX-License-Identifier: Apache-2.0
// In which types the layers keep their keys and values, as a user says it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "runtime/program.h"

namespace nereid::llm {

// Any type there is a kernel for; int8 has a scale for each head of each token.
class KvTypes {
 public:
  KvTypes() = default;
  // "auto" (or ""): as the engine was built. "int8": all layers. "int8,0-1=f16,29=bf16": all but those. fp8 is e4m3.
  // kInvalidArgument says what is amiss.
  static Result<KvTypes> parse(std::string_view text);
  bool is_auto() const { return !all_ && layers_.empty(); }
  std::optional<DType> of(int64_t layer) const;  // nothing: the engine's
  // Of layers that nothing was said about.
  void set_default(DType dtype) { all_ = all_.value_or(dtype); }
  int64_t last_layer() const;  // the greatest that was named; -1: none

 private:
  struct Layers {
    int64_t first = 0, last = 0;
    std::optional<DType> dtype;
  };
  std::optional<DType> all_;
  std::vector<Layers> layers_;  // later ones win
};

// The states k_cache.{i} and v_cache.{i} that are kept otherwise than the graph says: in other types, or in pages of
// `page_tokens` (0: the graph's). kInvalidArgument: a layer that there is not.
Result<runtime::StateTypes> cache_types(const graph::Graph& graph, const KvTypes& types, int64_t page_tokens);

// Differs where any layer's keys or values are kept otherwise.
uint64_t cache_layout(const graph::Graph& graph);

// "f16", or "int8" and the like where all layers are the same; "mixed" where they are not.
std::string cache_type_name(const graph::Graph& graph);

}  // namespace nereid::llm
