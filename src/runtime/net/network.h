// SPDX-License-Identifier: Apache-2.0
// A network ready to run: its graph, and its weights in whatever forms the kernels asked for. Immutable to its users,
// shared by any number of contexts (context.h) on any number of threads.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/cpu_info.h"
#include "base/function_ref.h"
#include "base/status.h"
#include "graph/graph.h"
#include "kernels/cpu/isa_kernels.h"
#include "runtime/net/weight_memory.h"

namespace nereid::runtime {

// Problems and the ways to solve them (kernels/cpu/tactic.h), both as text: what was measured to be fastest.
using NetChoices = std::map<std::string, std::string, std::less<>>;

// In which precision products and convolutions multiply. Sums, and everything else, are f32.
enum class NetPrecision : uint8_t { kF32, kBF16 };

class Network {
 public:
  // `storage` keeps alive what the graph's constants point into (a mapped model, an engine's weights).
  static std::shared_ptr<const Network> create(graph::Graph graph, std::shared_ptr<const void> storage, Isa isa,
                                               NetPrecision precision = NetPrecision::kF32);

  // Form of a constant's bytes that is there already (in an engine's file, which `storage` keeps alive).
  struct Ready {
    const void* data;
    std::string layout;
    std::span<const std::byte> bytes;
  };
  static std::shared_ptr<const Network> create(graph::Graph graph, std::shared_ptr<const void> storage, Isa isa,
                                               NetPrecision precision, const std::vector<Ready>& ready,
                                               NetChoices choices = {});
  // The same network with other choices; what has been packed is shared.
  std::shared_ptr<const Network> with_choices(NetChoices choices) const;
  const NetChoices& choices() const { return choices_; }
  // Lets go of what the network that this one was made from has packed and this one has not asked for.
  void forget_spare() const;
  // How a problem is to be solved; empty: by the kernels' rules.
  std::string_view choice(std::string_view problem) const;

  NetPrecision precision() const { return precision_; }

  const graph::Graph& graph() const { return graph_; }
  const kernels::IsaKernels& kernels() const { return *kernels_; }

  // A constant's bytes in another form, made by `pack` when they are first asked for and kept; 64-byte aligned.
  // Thread safe. `layout` names the form: one constant may have several. kExhausted: no memory.
  // `unpack`, where the form holds all of the constant's bytes, puts them back where they were.
  using Unpack = std::function<void(const std::byte* form, std::byte* raw)>;
  Result<const std::byte*> packed(const void* data, std::string_view layout, int64_t bytes,
                                  FunctionRef<void(std::byte*)> pack, const Unpack& unpack = {}) const;

  // From now on weights give their memory back once they are packed (weight_memory.h). For networks that are only run:
  // who reads constants from the graph would find zeros. Their memory must be this process's own.
  void free_packed_weights() const;
  // A constant's bytes are about to be read as they are, for good if `keep`.
  void want(const void* data, bool keep) const;
  int64_t packed_bytes() const;
  // What has been packed so far, for writing it into an engine.
  std::vector<Ready> packed_forms() const;

 private:
  graph::Graph graph_;
  std::shared_ptr<const void> storage_;
  const kernels::IsaKernels* kernels_ = nullptr;
  NetPrecision precision_ = NetPrecision::kF32;
  NetChoices choices_;
  mutable std::mutex mutex_;
  struct Form {
    std::shared_ptr<const Buffer> memory;  // null if the bytes are somebody else's
    std::span<const std::byte> bytes;
  };
  // A place for a packed form.
  struct Piece {
    std::shared_ptr<Buffer> memory;
    size_t offset = 0;
  };
  Result<Piece> piece_of(size_t bytes) const;
  mutable Piece chunk_;  // what is free of it: from offset on
  using Forms = std::map<std::pair<const void*, std::string>, Form>;
  mutable Forms packed_;
  mutable std::unique_ptr<WeightMemory> weights_;  // null: all weights stay
  mutable Forms spare_;  // of the network that this one was made from, until they are asked for
};

}  // namespace nereid::runtime
