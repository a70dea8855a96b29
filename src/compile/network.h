// SPDX-License-Identifier: Apache-2.0
// A network opened for running: from an ONNX file, imported, optimised and handed to the runtime, or from an engine.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/cpu_info.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "import/onnx/onnx_model.h"
#include "passes/pipeline.h"
#include "runtime/net/context.h"

namespace nereid::compile {

struct NetworkOptions {
  import::onnx::ImportOptions import;  // sizes that are fixed before anything is optimised, initializers kept as inputs
  bool optimise = true;                // false: the nodes of the file as they are
  std::set<std::string, std::less<>> disabled_passes;
  runtime::NetPrecision precision = runtime::NetPrecision::kF32;  // an engine has its own
  bool frees_weights = false;  // of an ONNX file: packed weights leave their memory (Network::free_packed_weights)
  std::optional<Isa> isa;      // nothing: the best of this machine
  int level = 0;               // of tuning (tune/level.h) when an engine is built; 0: kernels are chosen by rule
  std::string timing_cache;    // the file of what was timed before (tune/timing_cache.h); empty: none
  bool strip_weights = false;  // of an engine that is written: leave its weights out
  std::function<bool()> stop;  // asked now and then; true: the work ends with kCancelled
};

// "f32" or "bf16". kInvalidArgument names what there is.
Result<runtime::NetPrecision> precision_from_name(const std::string& name);
std::string_view precision_name(runtime::NetPrecision precision);

// What is being done, and how far it is.
using BuildProgress = std::function<void(std::string_view stage, int64_t done, int64_t total)>;

struct NamedType {
  std::string name;
  ops::TensorType type;
};

// Any number of contexts may run on it, one thread each.
struct OpenedNetwork {
  std::shared_ptr<const runtime::Network> network;
  std::vector<NamedType> inputs, outputs;  // as the file has them, in its order
  // Inputs that need not be given, because the file has a value for them.
  std::map<std::string, ops::TensorType, std::less<>> defaults;
  std::vector<import::onnx::SourceWeight> weights;  // of the ONNX file
  // For an engine of it to keep (network_refit.h), as JSON: which layers have precisions of their own, and the ranges
  // of what those in int8 read. Empty: there are none.
  std::string mix;
  // Of an engine that is refitted: how its kernels were chosen (JSON), and the weights that the certificate is true of.
  std::string tactics, certified;
  bool weights_are_mapped = false;  // some of them
  passes::Report passes;
  std::vector<std::string> warnings;  // full sentences
  std::string certificate;            // what is known of its accuracy, as JSON (mixed_build.h); empty: nothing
  int64_t nodes_imported = 0, nodes_optimised = 0;
  double import_ms = 0, optimise_ms = 0;
};

// From an ONNX file. Errors: what the importer and the passes say.
Result<OpenedNetwork> open_network(const std::string& path, const NetworkOptions& options = {});
// The same from an ONNX file's bytes; external data is looked for in `folder` ("": there is none).
Result<OpenedNetwork> open_network_bytes(std::string_view bytes, const std::string& folder,
                                         const NetworkOptions& options = {});
// kCancelled if `options.stop` says so.
Status check_stop(const NetworkOptions& options);
// From a path: an ONNX file, or an engine of a network (network_engine.h), as its first bytes tell.
Result<OpenedNetwork> open_network(const std::string& path, const NetworkOptions& options, ThreadPool& pool);

}  // namespace nereid::compile
