// SPDX-License-Identifier: Apache-2.0
// Engines kept in the user's cache folder, so that a model is packed once and only mapped from then on.
//
// <cache>/engines/<content>-<options>.engine  named by the model's content: renaming or copying a model changes nothing
// <cache>/index/<identity>                    names the engine for a file seen before (path, size, time, inode), so
// that
//                                             a second start need not read the model to find it
#pragma once

#include <string>

#include "compile/build_engine.h"
#include "engine/engine_file.h"

namespace nereid::compile {

struct OpenedEngine {
  engine::EngineFile file;
  bool was_built = false;  // in this call
  std::vector<std::string> warnings;
};

// The engine for `path`: an engine file itself, or a model that is packed now or was before.
// A cached engine that is corrupt or of another version is built anew.
Result<OpenedEngine> open_engine(const std::string& path, const EngineOptions& options, ThreadPool& pool,
                                 const ProgressFn& progress = {});

}  // namespace nereid::compile
