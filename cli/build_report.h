// SPDX-License-Identifier: Apache-2.0
// `nereid build --report`: the page of what was built.
#pragma once

#include <optional>
#include <string>

#include "cli/graph_page.h"

namespace nereid::cli {

class BuildReport {
 public:
  // Before the build, so that a page that cannot be written costs no build. "": no report is wanted.
  static Result<BuildReport> create(const std::string& path);

  // Runs the network on random numbers, times its layers and writes the page.
  Status write(const std::string& model, const compile::NetworkOptions& options, const compile::NetworkBuild& build,
               std::span<const tune::LayerChoice> choices, ThreadPool& pool);

 private:
  std::optional<AtomicFile> file_;
};

}  // namespace nereid::cli
