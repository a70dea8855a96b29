// SPDX-License-Identifier: Apache-2.0
// From a folder with a LoRA adapter to addends of a language model's program.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/json.h"
#include "base/status.h"
#include "runtime/adapter.h"
#include "runtime/program.h"

namespace nereid::compile {

// A folder as PEFT saves it, and what its addends are multiplied by besides.
struct AdapterSource {
  std::string path;
  double scale = 1;
};

struct OpenedAdapter {
  std::shared_ptr<const runtime::Adapter> adapter;
  std::string base_model;  // as the first source names it; "" where it does not
  int64_t modules = 0;     // of all sources
  int64_t rank = 0;        // the largest
};

// Of several sources the addends are summed. `info` is the engine's. Modules are found in the program whichever file it
// was built from and whatever was fused. Nothing points into the folders' files afterwards. Errors: what import/peft
// says; kNotFound: a module that the model does not have; kInvalidArgument: sizes of another model, numbers that are
// none, a scale that is none.
Result<OpenedAdapter> open_adapter(std::span<const AdapterSource> sources, const runtime::Program& program,
                                   const Json& info);

}  // namespace nereid::compile
