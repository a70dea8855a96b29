// SPDX-License-Identifier: Apache-2.0
#include "compile/arch_source.h"

#include "base/json.h"

namespace nereid::compile {

llm::ArchInput arch_input(const import::ModelSource& source) {
  llm::ArchInput input;
  input.gguf = source.metadata();
  input.hf = source.config();
  if (input.gguf) {
    input.architecture = input.gguf->string_or("general.architecture", "");
  } else if (const auto it = input.hf->find("architectures");
             it != input.hf->end() && it->is_array() && !it->empty() && (*it)[0].is_string()) {
    input.architecture = (*it)[0].get_ref<const std::string&>();
  } else if (const auto type = input.hf->find("model_type"); type != input.hf->end() && type->is_string()) {
    input.architecture = type->get_ref<const std::string&>();
  }
  input.tensor = [&source](std::string_view name) -> const ConstTensorView* {
    const import::SourceTensor* t = source.find(name);
    return t ? &t->view : nullptr;
  };
  for (const import::SourceTensor& t : source.tensors) input.tensor_names.emplace_back(t.name);
  return input;
}

}  // namespace nereid::compile
