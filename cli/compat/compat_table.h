// SPDX-License-Identifier: Apache-2.0
// Names under which `nereid` is another tool: it takes that tool's flags and prints its report.
#pragma once

#include <span>
#include <string_view>

#include "cli/command.h"

namespace nereid::cli {

struct CompatTool {
  std::string_view name;
  int (*run)(Arguments args);
};

std::span<const CompatTool> compat_table();
// The tool that argv[0] names by its last part; null: it is `nereid` itself.
const CompatTool* find_compat_tool(std::string_view program);

}  // namespace nereid::cli
