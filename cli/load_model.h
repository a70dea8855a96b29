// SPDX-License-Identifier: Apache-2.0
// Opens a language model for a command: its engine (packed now, with a progress bar, or found in the cache), its
// weights, and what the user has to be told about them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/thread_pool.h"
#include "cli/command.h"
#include "llm/run/language_model.h"

namespace nereid::cli {

struct LoadArguments {
  std::string model;  // path or name
  std::string device = "cpu";
  std::string isa;      // "": the best there is, or $NEREID_ISA
  int threads = 0;      // 0: all usable CPUs
  int64_t context = 0;  // 0: the model's, at most 8192
  bool strict = false;  // a reference fallback is an error
  bool exact = false;   // no rounding of activations (compile/build_engine.h)
  bool quiet = false;   // warnings and errors only
};

// MODEL, --device, --isa, --threads, --context, --strict, --quiet.
void add_load_options(CLI::App& app, LoadArguments& args);

struct LoadedModel {
  std::string path;  // of the model
  Isa isa = Isa::baseline;
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<llm::LanguageModel> model;
  bool was_built = false;  // packed in this call
  double load_ms = 0;      // from the path to a model that can step
};

// Prints warnings and the model's notes to stderr. `options` carries what the command needs beyond the arguments
// (sequences, step size, outputs); its isa and context_tokens are filled in here.
// Nothing: the reason has been printed, and `*code` is what the command ends with: 2 where the command line is wrong
// (no such model, device or instruction set, a context too long), 1 where the model failed to load.
std::optional<LoadedModel> load_model(const LoadArguments& args, llm::LoadOptions options, ExitCode* code);

}  // namespace nereid::cli
