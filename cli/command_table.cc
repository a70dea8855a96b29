// SPDX-License-Identifier: Apache-2.0
// The commands of `nereid`, in the order of --help.
//
// To add one: cli/<name>.cc defines `int <name>_command(Arguments args)`; declare it here and give it a row. Options
// are declared on a CLI::App named "nereid <name>" and parsed with parse() (command.h).
#include "cli/command.h"

namespace nereid::cli {

int detokenize_command(Arguments args);
int eval_command(Arguments args);
int run_command(Arguments args);
int template_command(Arguments args);
int tokenize_command(Arguments args);

namespace {

constexpr Command kCommands[] = {
    {"run", "answers prompts with a language model", run_command},
    {"eval", "measures how well a language model foretells a text", eval_command},
    {"tokenize", "turns text into token ids", tokenize_command},
    {"detokenize", "turns token ids into text", detokenize_command},
    {"template", "writes the prompt that a chat template makes of messages", template_command},
};

}  // namespace

std::span<const Command> command_table() {
  return kCommands;
}

}  // namespace nereid::cli
