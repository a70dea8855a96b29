// SPDX-License-Identifier: Apache-2.0
// A network opened together with values for all its inputs: what is needed to run it again and again and time it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compile/infer_inputs.h"
#include "compile/network.h"

namespace nereid::compile {

struct SessionOptions {
  std::string model;                // path of an ONNX file or of a network's engine
  std::vector<std::string> inputs;  // values from files, as infer_inputs.h reads them; the others are random
  std::vector<std::string> shapes;  // names may hold one '*'
  uint64_t seed = 1;
  bool optimise = true;
  runtime::NetPrecision precision = runtime::NetPrecision::kF32;  // an engine has its own
  std::optional<Isa> isa;
  int level = 0;             // of tuning an ONNX file's kernels (tune/level.h)
  std::string timing_cache;  // what was timed before (tune/timing_cache.h); empty: none
};

struct NetworkSession {
  OpenedNetwork network;
  std::map<std::string, ops::Datum, std::less<>> values;  // one an input
  std::vector<std::string> remarks;                       // full sentences: sizes that nobody gave
  bool is_engine = false;
  double open_ms = 0;  // from the path to a network that can run

  // A context with all inputs set; the session must outlive it.
  Result<std::unique_ptr<runtime::NetContext>> context(ThreadPool& pool) const;
};

// Sizes that are left open take what another input's size of the same name is, else 1, and a remark says so. The sizes
// of the values are then fixed in the network. Errors: those of open_network and read_inputs.
Result<NetworkSession> open_session(const SessionOptions& options, ThreadPool& pool);

// The sizes for `inputs` whose sizes `given` does not name, as open_session chooses them.
InputShapes complete_shapes(std::span<const InputType> inputs, const InputShapes& given,
                            std::vector<std::string>& remarks);

}  // namespace nereid::compile
