// SPDX-License-Identifier: Apache-2.0
// Hugging Face model directories: the configuration, the weights as views, and which tokenizer files there are.
//
// config.json is required. Weights are model.safetensors, or the shards that model.safetensors.index.json names.
// Tokenizer files are only listed here; llm/token reads them.
// Threads: an HfModel may be read by any number of threads. Memory: the JSON files (each at most 64 MiB) and what
// import/safetensors says. Errors: kNotFound (not a directory, no config.json, no weights, a missing shard),
// kUnsupported (weights only as PyTorch pickles), kInvalidArgument (damaged files); each sentence names the file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "import/safetensors/safetensors.h"

namespace nereid::import::hf {

struct HfModel {
  std::string directory;
  Json config;             // config.json: an object
  Json generation_config;  // generation_config.json: an object, empty if the file is absent
  safetensors::SafetensorsFile weights;
  std::vector<std::string> tokenizer_files;  // names inside the directory, in the order of known_tokenizer_files()

  // The path of a tokenizer file, "" if the directory has none of that name.
  std::string tokenizer_file(std::string_view name) const;
};

// The file names that are looked for: "tokenizer.json", "tokenizer.model", ...
std::vector<std::string_view> known_tokenizer_files();

Result<HfModel> open(const std::string& directory);

}  // namespace nereid::import::hf
