// SPDX-License-Identifier: Apache-2.0
// From a model's files to an engine file: import, build the graph, run the passes, pack the weights, write.
//
// Memory: the source stays mapped; about one chunk of one weight is held besides. Deterministic: the same files and
// options give the same bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/status.h"
#include "base/thread_pool.h"
#include "import/model_source.h"
#include "passes/pipeline.h"

namespace nereid::compile {

// Called now and then with the bytes packed so far and in all.
using ProgressFn = std::function<void(int64_t done, int64_t total)>;

struct EngineOptions {
  int64_t page_tokens = 32;  // positions in one page of the key/value cache; a multiple of 16
  int64_t max_context = 0;   // longest sequence the rope scaling is made for; 0: the model's own
  // Nothing but the weights' own format is rounded: weights decoded to f32, activations and the cache in f32. Up to
  // eight times the memory and a tenth of the speed; for telling a defect from the noise of int8 activations.
  bool exact = false;
};

struct BuildReport {
  std::vector<std::string> warnings;  // unused tensors and the like, full sentences
  passes::Report passes;              // what fired where
};

// Writes the engine to `path` (beside, then renamed). Errors: what the importer, the architecture, the passes or the
// disk say; kCancelled on Ctrl-C. Nothing is left behind then.
Result<BuildReport> build_engine(const import::ModelSource& source, const std::string& path,
                                 const EngineOptions& options, ThreadPool& pool, const ProgressFn& progress = {});

}  // namespace nereid::compile
