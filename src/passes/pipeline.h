// SPDX-License-Identifier: Apache-2.0
// The ordered list of passes, and the runner that gives every one of them a switch, a record and a check.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "passes/pass.h"

namespace nereid::passes {

extern const bool kVerifyByDefault;  // true in debug builds

struct Options {
  std::set<std::string, std::less<>> disabled;  // names of passes to leave out; unknown ones are refused
  Capabilities capabilities;
  bool verify = kVerifyByDefault;  // the graph after every pass; the graph after all is always verified
};

struct PassReport {
  std::string_view name;
  bool enabled = true;
  size_t nodes_before = 0;
  size_t nodes_after = 0;
  std::vector<Record> records;
  size_t fired() const;
};

struct Report {
  std::vector<PassReport> passes;
  // What `--explain` prints: a line a pass, under it a line a record: `+` what fired, `-` what was refused.
  std::string to_text() const;
};

std::span<const Pass> pipeline();          // of language models
std::span<const Pass> network_pipeline();  // of networks from ONNX files; a name with a '.' is a pass run once more

// Runs the whole pipeline. kInvalidArgument: a disabled pass does not exist. kInternal: a pass broke the graph.
Result<Report> run_pipeline(graph::Graph& graph, const Options& options = {});
// The same for networks; graphs inside nodes (branches, loop bodies) go through it too.
Result<Report> run_network_pipeline(graph::Graph& graph, const Options& options = {});
// Runs one pass of a pipeline, or another one.
Result<PassReport> run_pass(const Pass& pass, graph::Graph& graph, const Options& options = {});

}  // namespace nereid::passes
