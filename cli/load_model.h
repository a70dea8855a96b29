// SPDX-License-Identifier: Apache-2.0
// Opens a language model for a command: its engine (packed now, with a progress bar, or found in the cache), its
// weights, and what the user has to be told about them.
#pragma once

#include <optional>
#include <string>

#include "cli/command.h"
#include "cli/command_line.h"
#include "llm/run/open_model.h"

namespace nereid::cli {

struct LoadArguments {
  std::string model;  // path or name
  llm::OpenOptions open;
  bool quiet = false;  // warnings and errors only
};

// MODEL, --device, --isa, --threads, --context, --strict, --quiet.
void add_load_options(CommandLine& app, LoadArguments& args);

using LoadedModel = llm::OpenedModel;

// Prints warnings and the model's notes to stderr. `options` carries what the command needs beyond the arguments
// (sequences, step size, outputs); its isa and context_tokens are filled in here.
// Nothing: the reason has been printed, and `*code` is what the command ends with: 2 where the command line is wrong
// (no such model, device or instruction set, a context too long), 1 where the model failed to load.
std::optional<LoadedModel> load_model(const LoadArguments& args, llm::LoadOptions options, ExitCode* code);

}  // namespace nereid::cli
