// SPDX-License-Identifier: Apache-2.0
// A model's files as llm/arch wants to see them.
#pragma once

#include "import/model_source.h"
#include "llm/arch/arch_input.h"

namespace nereid::compile {

// Points into `source`, which must outlive it.
llm::ArchInput arch_input(const import::ModelSource& source);

}  // namespace nereid::compile
