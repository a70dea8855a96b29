// SPDX-License-Identifier: Apache-2.0
// The page that shows a graph: the files of web/graph with the data inside, one file that asks the network for nothing.
#pragma once

#include <string>
#include <string_view>

#include "base/atomic_file.h"
#include "compile/network_view.h"

namespace nereid::cli {

// The parts that the build puts into the program (graph_page_parts.cc.in).
struct GraphPageParts {
  std::string_view html;  // with the marks below where the others go
  std::string_view style;
  std::string_view dagre;  // "": the build found none, and the page lays every graph out itself
  std::string_view script;
};
extern const GraphPageParts kGraphPageParts;

// JSON as the content of a <script>: no name in it can end the element or begin a comment.
std::string script_json(const compile::OrderedJson& json);
std::string graph_page(const compile::OrderedJson& view, const GraphPageParts& parts = kGraphPageParts);

// Writes the page of `view` and makes it durable.
Status write_graph_page(AtomicFile& file, const compile::NetworkView& view);

}  // namespace nereid::cli
