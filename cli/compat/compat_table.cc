// SPDX-License-Identifier: Apache-2.0
// To add one: cli/compat/<tool>.cc defines its function, a row here, and a link in CMake's NEREID_COMPAT_TOOLS.
#include "cli/compat/compat_table.h"

namespace nereid::cli {

int tritonserver_command(Arguments args);
int trtexec_command(Arguments args);

namespace {

constexpr CompatTool kTools[] = {
    {"tritonserver", tritonserver_command},
    {"trtexec", trtexec_command},
};

}  // namespace

std::span<const CompatTool> compat_table() {
  return kTools;
}

const CompatTool* find_compat_tool(std::string_view program) {
  const size_t slash = program.rfind('/');
  if (slash != std::string_view::npos) program.remove_prefix(slash + 1);
  for (const CompatTool& tool : kTools)
    if (tool.name == program) return &tool;
  return nullptr;
}

}  // namespace nereid::cli
