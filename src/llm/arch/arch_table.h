// SPDX-License-Identifier: Apache-2.0
// The one ordered table of architectures, and finding the one a model's files name.
#pragma once

#include <span>
#include <string>

#include "base/status.h"
#include "llm/arch/arch_input.h"
#include "llm/arch/architecture.h"

namespace nereid::llm {

std::span<const Architecture* const> arch_table();

// By the names the files give: GGUF's general.architecture; any of config.json's architectures or its model_type.
// kUnsupported for an unknown one: the sentence names it, the nearest known name and all supported ones.
Result<const Architecture*> find_architecture(const ArchInput& input);

}  // namespace nereid::llm
