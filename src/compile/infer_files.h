// SPDX-License-Identifier: Apache-2.0
// `nereid infer`: files in, a model run once, files out. The way scripts compare Nereid with others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/status.h"

namespace nereid::compile {

struct InferRequest {
  std::string model;                    // path
  std::vector<std::string> inputs;      // as typed: compile/infer_inputs.h
  std::vector<std::string> shapes;      // "NAME:1x3x224x224", several split at ','
  std::optional<uint64_t> random_seed;  // inputs that are not given get random numbers
  std::string outputs;                  // the folder
  int threads = 0;                      // 0: as many as there are cores
  std::string precision = "f32";        // or "bf16"
  bool optimise = true;                 // false: the nodes of the file one by one
};

struct InferredValue {
  std::string name, file;
  std::string type;                           // tensor, sequence, optional or map
  std::string dtype;                          // of the elements
  std::optional<std::vector<int64_t>> sizes;  // of a tensor, or of the optional's
  std::optional<int64_t> length;              // of a sequence or a map
};

struct InferReport {
  std::vector<InferredValue> outputs;  // in the model's order
  std::vector<std::string> warnings;   // full sentences
  double load_ms = 0, run_ms = 0;
};

// Errors: what is wrong with the request, a file or the model (kInvalidArgument, kNotFound, kUnsupported); kExhausted
// when memory or disk are. After an error the folder is as if it had never been there or holds no result: what an
// earlier run has left in it (what its outputs.json lists) is removed first, other people's files are left alone.
Result<InferReport> infer_files(const InferRequest& request);

// The list that is written as outputs.json.
nlohmann::ordered_json outputs_json(const std::vector<InferredValue>& outputs);

}  // namespace nereid::compile
