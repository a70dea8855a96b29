// SPDX-License-Identifier: Apache-2.0
// The commands of `nereid`, in the order of --help.
//
// To add one: cli/<name>.cc defines `int <name>_command(Arguments args)`; declare it here and give it a row. Options
// are declared on a CommandLine named "nereid <name>" and parsed with parse() (command.h).
#include "cli/command.h"

namespace nereid::cli {

int bench_command(Arguments args);
int build_command(Arguments args);
int check_command(Arguments args);
int detokenize_command(Arguments args);
int doctor_command(Arguments args);
int embed_command(Arguments args);
int eval_command(Arguments args);
int explain_command(Arguments args);
int infer_command(Arguments args);
int inspect_command(Arguments args);
int models_command(Arguments args);
int refit_command(Arguments args);
int run_command(Arguments args);
int serve_command(Arguments args);
int template_command(Arguments args);
int tokenize_command(Arguments args);
int view_command(Arguments args);

namespace {

constexpr Command kCommands[] = {
    {"run", "answers prompts with a language model", run_command},
    {"serve", "serves language models over HTTP, as OpenAI's API", serve_command},
    {"embed", "turns texts into vectors, or ranks them by a query", embed_command},
    {"models", "lists, fetches and finds models by name", models_command},
    {"build", "makes an engine of an ONNX file", build_command},
    {"refit", "gives an engine other weights, or takes them away", refit_command},
    {"bench", "measures how fast a language model or a network runs here", bench_command},
    {"eval", "measures how well a language model foretells a text", eval_command},
    {"infer", "runs a model once: inputs from files, outputs into files", infer_command},
    {"check", "compares a network layer by layer with another way to compute it", check_command},
    {"inspect", "tells what is in a model or an engine", inspect_command},
    {"explain", "tells what the passes did to a network, and which kernel each layer got and why", explain_command},
    {"view", "writes a page that shows a model's graph before and after the passes", view_command},
    {"tokenize", "turns text into token ids", tokenize_command},
    {"detokenize", "turns token ids into text", detokenize_command},
    {"template", "writes the prompt that a chat template makes of messages", template_command},
    {"doctor", "looks at this machine: what is there, what is missing", doctor_command},
};

}  // namespace

std::span<const Command> command_table() {
  return kCommands;
}

}  // namespace nereid::cli
