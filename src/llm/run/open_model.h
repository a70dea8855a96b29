// SPDX-License-Identifier: Apache-2.0
// From the path of a model to one that can step: its engine (packed now, or found in the cache), its threads, its
// weights.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "llm/run/language_model.h"

namespace nereid::llm {

struct OpenOptions {
  std::string isa;             // the highest instruction set to use, by name; "": the best there is, or $NEREID_ISA
  int threads = 0;             // 0: all usable CPUs
  int64_t context = 0;         // longest prompt and answer together; 0: the model's, at most 8192
  bool strict = false;         // a reference fallback is an error
  std::string kv_cache_dtype;  // of keys and values, as KvTypes::parse reads it; "": the engine's
  bool exact = false;          // no rounding of activations (compile/build_engine.h)
  std::string device = "cpu";  // or "cuda", "cuda:1"
  std::string gpu_weights = "as-is";  // or "fp8": what a GPU makes of the layers' floats
};

struct OpenedModel {
  std::string path;
  Isa isa = Isa::baseline;
  std::string device;  // "cpu", or the GPU with its name
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<LanguageModel> model;
  bool was_built = false;             // packed in this call
  std::vector<std::string> warnings;  // what the user should be told, one sentence each
  double load_ms = 0;                 // from the path to a model that can step
};

// What the options alone can get wrong, and the instruction set that they mean; `warnings` gets a sentence where it is
// not the one that was asked for. kInvalidArgument names the option as the command line has it.
Result<Isa> check_open_options(const OpenOptions& options, std::vector<std::string>* warnings);

// `load` carries what the use needs (sequences, step size, outputs, cache); its isa and context_tokens are filled in.
// `progress` is told the bytes done and their total while the weights are packed. kInvalidArgument: an option or the
// file is wrong (`wrong_option` is set to true for an option); kNotFound: there is no such file; kUnsupported also
// where `strict` found a fallback.
Result<OpenedModel> open_model(const std::string& path, const OpenOptions& options, LoadOptions load,
                               const std::function<void(int64_t, int64_t)>& progress = {},
                               bool* wrong_option = nullptr);

}  // namespace nereid::llm
