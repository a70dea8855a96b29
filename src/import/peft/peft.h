// SPDX-License-Identifier: Apache-2.0
// LoRA adapters as PEFT saves them: a folder with adapter_config.json and adapter_model.safetensors.
//
// A module's product gets scale * B (A x) added, scale = lora_alpha / r (rslora: / sqrt(r)), with r and lora_alpha of
// its own where rank_pattern and alpha_pattern say so. What would change the result and is not done here (DoRA, modules
// saved whole, biases, changed base weights) is refused by the setting's name. `fan_in_fan_out` is about how the base
// weight is stored and changes nothing here; `target_modules` is taken from the tensors, which cannot lie.
//
// Threads: an Adapter may be read by any number of threads. Memory: adapter_config.json (at most 16 MiB) and what
// import/safetensors says. Errors: kNotFound (no folder, no file), kUnsupported (a kind of adapter or an element type
// that Nereid does not have), kInvalidArgument (damaged files, shapes that do not fit each other); each sentence names
// the file.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "import/safetensors/safetensors.h"

namespace nereid::import::peft {

struct Module {
  std::string name;      // in the base model: "model.layers.0.self_attn.q_proj"
  ConstTensorView a, b;  // [rank, in] and [out, rank], of the same type: f32, f16 or bf16
  double scale = 1;
  int64_t rank() const { return a.sizes[0]; }
};

struct Adapter {
  std::string directory;
  std::string base_model;                // base_model_name_or_path; "" where it does not say
  std::vector<Module> modules;           // sorted by name; at least one
  safetensors::SafetensorsFile weights;  // what the views point into
};

Result<Adapter> open(const std::string& directory);

// The same from memory: the configuration and the tensors, which are moved into the result.
Result<Adapter> read(const Json& config, safetensors::SafetensorsFile weights);

}  // namespace nereid::import::peft
