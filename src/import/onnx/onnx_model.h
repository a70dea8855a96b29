// SPDX-License-Identifier: Apache-2.0
// An ONNX file as a graph of our vocabulary.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"

namespace nereid::import::onnx {

// An initializer of the main graph: what exporters write weights as.
struct SourceWeight {
  std::string name;
  std::string type;  // "f32[64, 3, 7, 7]"
  bool operator==(const SourceWeight&) const = default;
};

struct OnnxModel {
  graph::Graph graph;  // its inputs and outputs have the file's names, in the file's order
  // Initializers that the file also lists as inputs: constants here, unless ImportOptions::overridden names them.
  std::map<std::string, ops::TensorType, std::less<>> defaults;
  // What the file says of its outputs; the graph knows them better or as well.
  std::vector<std::string> output_names;
  int64_t ir_version = 0;
  std::map<std::string, int64_t> opsets;  // by domain, "" the default
  std::string producer, description;
  std::map<std::string, std::string> metadata;
  std::vector<SourceWeight> weights;    // in the file's order
  std::vector<std::string> warnings;    // full sentences
  std::shared_ptr<const void> storage;  // what the graph's constants point into
  bool has_external_data = false;       // some of which is mapped files then
};

struct ImportOptions {
  // Sizes for inputs' symbolic dimensions, by input name; unnamed inputs keep theirs.
  std::map<std::string, std::vector<int64_t>, std::less<>> shapes;
  // Initializers that are to stay inputs of the graph, because the caller gives them values of its own.
  std::set<std::string, std::less<>> overridden;
  // Sees the file's weights before anything is made of them; an error ends the import.
  std::function<Status(std::span<const SourceWeight>)> check_weights;
};

// Errors are sentences that name the node, its operator, domain and opset: kInvalidArgument (damaged or contradictory
// file, cycles, paths that leave the model's folder), kNotFound (file or external data), kUnsupported (an operator that
// cannot be read). Memory is bounded by a small multiple of the file's size; external data is mapped.
Result<OnnxModel> import_file(const std::string& path, const ImportOptions& options = {});
// The same from bytes; external data is looked for in `folder` ("": there is none).
Result<OnnxModel> import_bytes(std::string_view bytes, const std::string& folder, const ImportOptions& options = {});

// Weights of the file that the model's graph does not read any more, because passes have made others of them, give
// their memory back.
void release_unread(const OnnxModel& model);

// One line an operator of a file, whether or not it can be read; works on files that cannot be imported.
struct Coverage {
  std::string domain, name;
  int64_t version = 0;
  int64_t nodes = 0;
  std::string refusal;  // empty: it can be read
};
Result<std::vector<Coverage>> coverage(const std::string& path);

}  // namespace nereid::import::onnx
