// SPDX-License-Identifier: Apache-2.0
// What each layer of a network is and does on this machine: kernel and why, sizes, work, time, share of the roof.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compile/machine_roof.h"
#include "compile/network_session.h"

namespace nereid::compile {

// A way that was measured for a layer, where a tuner looked for the best.
struct LayerCandidate {
  std::string tactic;
  double ms = 0;          // the least that was seen
  bool given_up = false;  // left the race before its end
};

struct LayerAccount {
  std::string path, name, op;              // of the graph around it (runtime/net/context.h); of the first result
  std::string kernel, note;                // as NetLayer has them
  std::string problem, tactic;             // "" where there was one way only
  std::vector<LayerCandidate> candidates;  // the fastest first; empty: nothing was measured
  std::string chosen_because;              // a phrase; "" where nothing was measured
  std::string precision;  // what is multiplied in: "f32", "bf16", "int8"; of others the type of the result
  std::vector<std::string> inputs, outputs;  // types: "f32[1, 64, 56, 56]"; "" of those absent
  ops::Cost cost;
  std::optional<double> ms;  // median of the timed runs
  double roof_ms = 0;        // the least that the roof allows; 0: not measured
  double bytes() const { return cost.bytes_read + cost.bytes_written; }
  // 1: as fast as the machine can be; nothing without a time.
  std::optional<double> roof_share() const;
};

struct NetworkAccount {
  std::vector<LayerAccount> layers;  // in execution order
  std::vector<std::string> notes;    // what runs on reference evaluators and why
  std::string not_run;               // why there are no kernels below; empty: it ran
  int64_t runs = 0;                  // timed
  double run_ms = 0;                 // median of as many runs whose layers were not timed
  double between_ms = 0;             // of a timed run, what no layer accounts for
  std::optional<MachineRoof> roof;
  int threads = 0;
  int64_t plan_bytes = 0, packed_bytes = 0;
  double layers_ms() const;  // of the network's own graph
};

struct AccountOptions {
  int64_t runs = 0;         // timed; 0: the network runs once, so that its kernels are chosen, and no roof is measured
  double most_seconds = 5;  // no further run begins after so much time
};

// A run that fails on its values is no error: `not_run` tells. Errors: kCancelled, kExhausted.
Result<NetworkAccount> account_network(const NetworkSession& session, ThreadPool& pool, const AccountOptions& options);
// Of a graph that is not to run, because of `reason`: what its types say.
NetworkAccount account_graph(const graph::Graph& graph, std::string reason);

}  // namespace nereid::compile
