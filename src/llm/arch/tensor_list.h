// SPDX-License-Identifier: Apache-2.0
// The tensors that a Hugging Face checkpoint of a configuration holds: what bind_weights would look for.
#pragma once

#include <string>
#include <vector>

#include "llm/arch/arch_input.h"
#include "llm/block/model_config.h"

namespace nereid::llm {

struct ListedTensor {
  std::string name;            // as the file has it
  std::vector<int64_t> sizes;  // row-major
};

struct TensorList {
  ModelConfig config;
  std::vector<ListedTensor> tensors;  // those without a layer first, then layer by layer
};

// Of `input.hf`; its tensors are not asked for. Errors: as build_model's for what the configuration lacks; kUnsupported
// for encoders, whose heads a configuration does not tell.
Result<TensorList> list_tensors(const ArchInput& input);

}  // namespace nereid::llm
