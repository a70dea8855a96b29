// SPDX-License-Identifier: Apache-2.0
// What a model or an engine holds, as plain data: for `nereid inspect`, benchmark labels and reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/status.h"

namespace nereid::compile {

struct DescribedValue {
  std::string key;
  Json value;          // of an array: its first items (DescribeOptions::array_items)
  int64_t count = -1;  // of an array: how many items it has; -1: no array
};

struct DescribedTensor {
  std::string name;
  std::string dtype;           // of an engine: as imported, before packing
  std::vector<int64_t> sizes;  // row-major
  int64_t bytes = 0;           // in the file
  std::string layout;          // of an engine: how it is packed; "" for plain rows
  int64_t elements() const;
};

struct DescribedTokenizer {
  std::string source;  // "gguf", "tokenizer.json", ...
  std::string model;   // "bpe", "unigram" or "wordpiece"
  bool byte_level = false;
  int64_t vocab = 0, merges = 0, added = 0;
  int64_t bos_id = -1, eos_id = -1, unknown_id = -1, padding_id = -1;  // -1: none
  std::vector<int64_t> end_of_generation;
  std::string chat_template;  // Jinja; empty: none
  std::vector<std::string> named_templates;
};

struct EngineChecks {
  int64_t chunks = 0;  // of the weights
  bool verified = false;
};

// What an ONNX file wants of its runtime, and what it gets.
struct DescribedOperator {
  std::string domain, name;  // "" the format's own domain
  int64_t version = 0;       // the opset's
  int64_t nodes = 0;
  std::string refusal;  // a sentence; empty: it can be read
};

struct DescribedNetwork {
  std::vector<std::pair<std::string, std::string>> inputs, outputs;  // name and type: "f32[batch, 3, 224, 224]"
  std::vector<DescribedOperator> operators;                          // by domain and name
  int64_t nodes = 0;
  int64_t refused_nodes() const;
};

struct Description {
  std::string path;
  std::string format;              // "GGUF version 3", "ONNX version 8", "safetensors file", "Nereid engine version 1"
  std::string label;               // "llama q4_1": architecture and the dtype of most of the bytes
  std::vector<std::string> files;  // that hold the weights
  std::vector<DescribedValue> metadata;
  std::vector<DescribedTensor> tensors;  // in file order; of a folder: by name
  int64_t tensor_bytes = 0;
  int64_t parameters = 0;  // elements of all tensors
  Json model;              // architecture and hyper-parameters as Nereid reads them; null: it cannot
  std::optional<DescribedTokenizer> tokenizer;
  Json engine;  // header and provenance; null: no engine
  std::optional<EngineChecks> checks;
  std::optional<DescribedNetwork> network;  // of an ONNX file
  std::vector<std::string> problems;        // why something above is missing, full sentences

  double bits_per_weight() const;  // 0 without tensors
};

struct DescribeOptions {
  int64_t array_items = 8;
  bool tokenizer = true;  // read it
  bool verify = true;     // an engine's weights against their checksums, which reads them all
};

// Errors: what the reader of the format says. Files that are sound but hold no model that Nereid runs (a bare
// vocabulary, an unknown architecture) are described as far as it goes; `problems` tells the rest.
Result<Description> describe(const std::string& path, const DescribeOptions& options = {});

enum class GraphStage : uint8_t { kImported, kFused };

// The graph's text (graph/text.h) as the importer makes it, or after the passes. An engine has only the latter.
Result<std::string> graph_text(const std::string& path, GraphStage stage);

}  // namespace nereid::compile
