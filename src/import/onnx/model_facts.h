// SPDX-License-Identifier: Apache-2.0
// What an ONNX file says of itself, read without understanding its nodes: works on files that cannot be imported.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "ops/op.h"

namespace nereid::import::onnx {

struct DeclaredValue {
  std::string name;
  std::string type;  // "f32[batch, 3, 224, 224]", or a sentence about why it cannot be read
};

struct StoredTensor {
  std::string name;
  std::string dtype;           // "type 99" for a number of the format that is not known
  std::vector<int64_t> sizes;  // as the file has them: they may be absurd
  int64_t bytes = 0;           // in the file or beside it; 0 where the sizes make no sense
  std::string file;            // that holds the bytes; "" for the model's own
};

struct ModelFacts {
  int64_t ir_version = 0;
  std::string producer, domain, description, graph;
  int64_t model_version = 0;
  std::map<std::string, int64_t> opsets;  // by domain, "" the default
  std::map<std::string, std::string> metadata;
  std::vector<DeclaredValue> inputs, outputs;  // initializers that are also inputs are left out
  std::vector<StoredTensor> tensors;           // the graph's initializers
  std::vector<std::string> results;            // names of what the graph's own nodes make
  int64_t nodes = 0;                           // of the graph itself
  int64_t functions = 0;
};

// Errors: the file cannot be read, or is no ONNX model.
Result<ModelFacts> model_facts(const std::string& path);

}  // namespace nereid::import::onnx
