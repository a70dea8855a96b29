// SPDX-License-Identifier: Apache-2.0
// docs/reference/commands.md: what each command's --help says.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "cli/bench_network.h"
#include "cli/command.h"
#include "gen_docs/page.h"

namespace nereid::docs {
namespace {

// The commands print to stdout, so that is where it is caught.
std::string help_of(int (*command)(cli::Arguments)) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  if (!file) return "";
  std::fflush(stdout);
  const int saved = dup(STDOUT_FILENO);
  dup2(fileno(file.get()), STDOUT_FILENO);
  const char* const argument = "--help";
  (void)command({&argument, 1});
  std::fflush(stdout);
  dup2(saved, STDOUT_FILENO);
  close(saved);
  std::string text;
  std::rewind(file.get());
  for (int c = std::fgetc(file.get()); c != EOF; c = std::fgetc(file.get())) text += static_cast<char>(c);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace

std::string commands_page() {
  std::string page = fmt::format("# Commands\n\n{}", header({"command", "what it does"}));
  for (const cli::Command& command : cli::command_table())
    page += row({fmt::format("[{0}](#nereid-{0})", command.name), command.summary});
  for (const cli::Command& command : cli::command_table())
    page += fmt::format("\n## nereid {}\n\n```\n{}\n```\n", command.name, help_of(command.run));
  page += fmt::format("\n## nereid bench NET.onnx\n\n```\n{}\n```\n", help_of(cli::bench_network_command));
  return page;
}

}  // namespace nereid::docs
