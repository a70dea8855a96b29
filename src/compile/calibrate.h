// SPDX-License-Identifier: Apache-2.0
// Calibration: a network run in f32 over samples, and the range of every activation that its int8 layers would read.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "base/cpu_info.h"
#include "base/thread_pool.h"
#include "compile/calibration_data.h"
#include "compile/calibration_table.h"
#include "graph/graph.h"

namespace nereid::compile {

struct CalibrationRun {
  const graph::Graph& graph;            // before lowering (passes/quantize_layers.h)
  std::shared_ptr<const void> storage;  // of its constants
  const CalibrationData& data;
  std::set<std::string> activations;  // f32 values of the graph
  RangeMethod method;
  Isa isa = Isa::baseline;
  std::function<void(int64_t done, int64_t total)> progress;
};

// Memory: a histogram an activation, and all activations of one sample. kInvalidArgument: a sample that cannot be read,
// or an activation that becomes NaN or infinite, which names both. kCancelled on Ctrl-C.
Result<TensorRanges> calibrate(const CalibrationRun& run, ThreadPool& pool);

}  // namespace nereid::compile
