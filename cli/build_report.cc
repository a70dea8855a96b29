// SPDX-License-Identifier: Apache-2.0
#include "cli/build_report.h"

namespace nereid::cli {
namespace {

constexpr int64_t kTimedRuns = 20;

}  // namespace

Result<BuildReport> BuildReport::create(const std::string& path) {
  BuildReport report;
  if (path.empty()) return report;
  NEREID_TRY(AtomicFile file, AtomicFile::create(path));
  report.file_.emplace(std::move(file));
  return report;
}

Status BuildReport::write(const std::string& model, const compile::NetworkOptions& options,
                          const compile::NetworkBuild& build, std::span<const tune::LayerChoice> choices,
                          ThreadPool& pool) {
  if (!file_) return Status::ok();
  NEREID_TRY(const compile::NetworkView view,
             compile::view_build({.model = model, .inputs = {}, .shapes = {}, .account = {.runs = kTimedRuns}}, options,
                                 build, choices, pool));
  return write_graph_page(*file_, view);
}

}  // namespace nereid::cli
