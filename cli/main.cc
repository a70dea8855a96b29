// SPDX-License-Identifier: Apache-2.0
// nereid: picks the subcommand and hands the rest of the command line to it.
#include <fmt/format.h>

#include <cstdio>
#include <new>
#include <string_view>
#include <vector>

#include "base/interrupt.h"
#include "cli/command.h"
#include "cli/compat/compat_table.h"
#include "cli/version.h"

namespace {

using namespace nereid;

void print_help(std::FILE* out) {
  fmt::print(out, "usage: nereid COMMAND [options]    (nereid COMMAND --help tells the options)\n\n");
  for (const cli::Command& c : cli::command_table()) fmt::print(out, "  {:<12} {}\n", c.name, c.summary);
}

// The rim: containers throw when there is no memory, which a model may well ask too much of.
int run(std::string_view name, int (*command)(cli::Arguments), cli::Arguments args) {
  try {
    return command(args);
  } catch (const std::bad_alloc&) {
    return cli::fail(exhausted("this machine does not have the memory that `{}` asked for", name));
  }
}

}  // namespace

int main(int argc, char** argv) {
  install_interrupt_handler();
  const std::vector<const char*> args(argv + (argc > 0), argv + argc);
  if (const cli::CompatTool* tool = cli::find_compat_tool(argc > 0 ? argv[0] : ""); tool != nullptr)
    return run(tool->name, tool->run, args);
  if (args.empty()) {
    print_help(stderr);
    return cli::kWrongInput;
  }
  const std::string_view name = args[0];
  if (name == "--help" || name == "-h" || name == "help") {
    print_help(stdout);
    return cli::kDone;
  }
  if (name == "--version") {
    fmt::print("nereid {}\n", cli::kVersion);
    return cli::kDone;
  }
  for (const cli::Command& c : cli::command_table())
    if (c.name == name) return run(fmt::format("nereid {}", c.name), c.run, std::span(args).subspan(1));
  return cli::fail(invalid_argument("there is no command '{}'; `nereid --help` lists them", name));
}
