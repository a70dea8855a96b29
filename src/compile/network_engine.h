// SPDX-License-Identifier: Apache-2.0
// Networks as engine files: the optimised graph as text, its constants as they are, and the forms that kernels wanted
// of them, so that opening one packs nothing and touches only what runs.
//
// The constants stay in the file beside their packed forms: with other sizes or another instruction set another kernel
// may want another form, which is then packed when it is first asked for. What is not touched costs address space
// alone.
#pragma once

#include <string>

#include "base/thread_pool.h"
#include "compile/choose_kernels.h"
#include "compile/network.h"
#include "engine/engine_file.h"
#include "graph/text.h"

namespace nereid::compile {

struct NetworkBuild {
  OpenedNetwork opened;
  int64_t file_bytes = 0, constant_bytes = 0, packed_bytes = 0;
  std::vector<std::string> notes;  // what runs on reference evaluators, for the sizes the plan was made for
  KernelChoices choices;           // what was chosen for each layer, and why
  double build_ms = 0;
};

// How the graph and the table of constants are written in an engine.
graph::PrintOptions engine_text();

// Imports, optimises, makes the plan for the sizes given in `options.import.shapes` (1 where the file leaves them
// open), chooses its kernels as options.level says and writes the engine. The same file and options give the same
// bytes, at levels above 0 with the same timing cache.
Result<NetworkBuild> build_network(const std::string& path, const std::string& engine, const NetworkOptions& options,
                                   ThreadPool& pool, const BuildProgress& progress = {});

// The same from the second step on. `source` is what the engine says it was made of. `opened` comes from
// open_network with the same options.
Result<NetworkBuild> write_network(OpenedNetwork opened, const std::string& source, const std::string& engine,
                                   const NetworkOptions& options, ThreadPool& pool, const BuildProgress& progress = {});

// Verifies an engine of a network, whose bytes stay mapped, or in `memory` if the file was parsed from there.
// kInvalidArgument: corrupt, stripped of its weights, or the engine of something else.
Result<OpenedNetwork> load_network(engine::EngineFile file, const NetworkOptions& options, ThreadPool& pool,
                                   std::shared_ptr<const void> memory = {});

}  // namespace nereid::compile
