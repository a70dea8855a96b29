// SPDX-License-Identifier: Apache-2.0
// Calibration: a network run in f32 over samples, and the range of every activation that its int8 layers would read.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/cpu_info.h"
#include "base/thread_pool.h"
#include "calibrate/calibration_table.h"
#include "graph/graph.h"
#include "ops/datum.h"

namespace nereid::compile {

// Values for all inputs, sample by sample, and what one calls a sample ("the calibration sample a.npy").
struct SampleSource {
  int64_t count = 0;
  std::function<Result<std::map<std::string, ops::Datum, std::less<>>>(int64_t index)> read;
  std::function<std::string(int64_t index)> name;
};

struct CalibrationRun {
  const graph::Graph& graph;            // before lowering (passes/quantize_layers.h)
  std::shared_ptr<const void> storage;  // of its constants
  const SampleSource& samples;
  std::set<std::string> activations;  // f32 values of the graph
  calibrate::RangeMethod method;
  Isa isa = Isa::baseline;
  std::function<void(int64_t done, int64_t total)> progress;
};

// Memory: a histogram an activation, and all activations of one sample. kInvalidArgument: a sample that cannot be read,
// or an activation that becomes NaN or infinite, which names both. kCancelled on Ctrl-C.
Result<calibrate::TensorRanges> calibrate(const CalibrationRun& run, ThreadPool& pool);

}  // namespace nereid::compile
