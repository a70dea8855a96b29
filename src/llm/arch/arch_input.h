// SPDX-License-Identifier: Apache-2.0
// What a model's files hold, without saying which reader read them: the compile driver fills one from an importer.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/metadata.h"
#include "base/tensor_view.h"

namespace nereid {
using Json = nlohmann::json;  // as base/json.h, which takes seconds to compile; tables do not need it
}

namespace nereid::llm {

// Everything pointed to outlives the graph that is built from it: weights stay views into the mapped files.
struct ArchInput {
  // GGUF: general.architecture. Hugging Face: architectures[0] or model_type of config.json.
  std::string_view architecture;
  // Exactly one is set; it also says which names and conventions the tensors follow.
  const Metadata* gguf = nullptr;
  const Json* hf = nullptr;  // config.json whole; a nested text_config is found here
  // A tensor by the file's own name, sizes row-major ([out, in] for a matrix); null if there is none.
  std::function<const ConstTensorView*(std::string_view name)> tensor;
  std::vector<std::string> tensor_names;
};

}  // namespace nereid::llm
