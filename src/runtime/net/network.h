// SPDX-License-Identifier: Apache-2.0
// A network ready to run: its graph, and its weights in whatever forms the kernels asked for. Immutable to its users,
// shared by any number of contexts (context.h) on any number of threads.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/buffer.h"
#include "base/cpu_info.h"
#include "base/function_ref.h"
#include "base/status.h"
#include "graph/graph.h"
#include "kernels/cpu/isa_kernels.h"

namespace nereid::runtime {

class Network {
 public:
  // `storage` keeps alive what the graph's constants point into (a mapped model, an engine's weights).
  static std::shared_ptr<const Network> create(graph::Graph graph, std::shared_ptr<const void> storage, Isa isa);

  const graph::Graph& graph() const { return graph_; }
  const kernels::IsaKernels& kernels() const { return *kernels_; }
  // True for bytes that never change while the network lives: only those may be packed.
  bool is_packable(const void* data) const { return data != nullptr; }

  // A constant's bytes in another form, made by `pack` when they are first asked for and kept; 64-byte aligned.
  // Thread safe. `layout` names the form: one constant may have several. kExhausted: no memory.
  Result<const std::byte*> packed(const void* data, std::string_view layout, int64_t bytes,
                                  FunctionRef<void(std::byte*)> pack) const;
  int64_t packed_bytes() const;

 private:
  graph::Graph graph_;
  std::shared_ptr<const void> storage_;
  const kernels::IsaKernels* kernels_ = nullptr;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<const void*, std::string>, Buffer> packed_;
};

}  // namespace nereid::runtime
