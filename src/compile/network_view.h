// SPDX-License-Identifier: Apache-2.0
// Everything there is to show of a model: its graph before and after the passes, what these did, and its layers. What
// `nereid view`, `nereid explain` and `nereid build --report` show, in one form.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compile/graph_json.h"
#include "compile/network_account.h"
#include "compile/network_engine.h"
#include "compile/pass_summary.h"
#include "import/onnx/source_nodes.h"
#include "tune/choice.h"

namespace nereid::compile {

struct ViewOptions {
  std::string model;                        // path of an ONNX file, of an engine, or of a language model
  std::vector<std::string> inputs, shapes;  // as SessionOptions has them
  bool guess_sizes = false;                 // sizes that are open are taken to be 1; false: then it does not run
  runtime::NetPrecision precision = runtime::NetPrecision::kF32;
  AccountOptions account;
};

struct NetworkView {
  std::string file;  // the name, without folders
  std::string kind;  // "ONNX file", "engine", "language model"
  std::string isa, precision;
  std::vector<NamedType> inputs, outputs;
  std::optional<graph::Graph> before;  // what an engine was made of is not known any more
  graph::Graph after = graph::Graph();
  std::vector<import::onnx::SourceNode> sources;
  std::vector<PassSummary> passes;
  std::vector<std::string> remarks;  // full sentences: warnings, sizes that were guessed, why something is missing
  NetworkAccount account;
  std::shared_ptr<const void> storage;  // what the graphs' constants point into
};

// Errors: those of open_session, and of language models those of graph_text.
Result<NetworkView> view_model(const ViewOptions& options, ThreadPool& pool);
// Of an engine that has just been built of `options.model` with `built`; `choices`: what a tuner measured for its
// layers.
Result<NetworkView> view_build(const ViewOptions& options, const NetworkOptions& built, NetworkBuild build,
                               std::span<const tune::LayerChoice> choices, ThreadPool& pool);

// The layers, the passes and what is said of the whole; `graphs`: also the graphs themselves, for the page.
OrderedJson view_json(const NetworkView& view, bool graphs);

}  // namespace nereid::compile
