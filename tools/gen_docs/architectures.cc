// SPDX-License-Identifier: Apache-2.0
// docs/reference/architectures.md: every language-model architecture and the names its files may give.
#include <fmt/format.h>

#include "gen_docs/page.h"
#include "llm/arch/arch_table.h"

namespace nereid::docs {
namespace {

std::string names(std::span<const std::string_view> list) {
  std::string text;
  for (std::string_view name : list) text += fmt::format("{}{}", text.empty() ? "" : ", ", code(name));
  return text;
}

}  // namespace

std::string architectures_page() {
  std::string page = "# Architectures\n\nLanguage models are recognised by what their files call themselves.\n\n" +
                     header({"architecture", "in GGUF files", "in config.json", "activation", "sliding windows"});
  for (const llm::Architecture* arch : llm::arch_table()) {
    const bool windows = !arch->window.gguf.empty() || !arch->window.hf.empty();
    page += row({code(arch->name), names(arch->gguf_names), names(arch->hf_names), code(arch->activation),
                 windows ? "where the file says so" : "no"});
  }
  page += "\n## Tensors\n\n`{i}` is the layer; `{body}` and `{head}` stand for where a checkpoint keeps its decoder.\n";
  for (const llm::Architecture* arch : llm::arch_table()) {
    page += fmt::format("\n### {}\n\n", arch->name) + header({"in GGUF files", "in safetensors", ""});
    for (const llm::WeightRow& weight : arch->weights)
      page += row({code(weight.gguf), code(weight.hf),
                   weight.need == llm::WeightRow::Need::kOptional ? "optional" : "required"});
  }
  return page;
}

}  // namespace nereid::docs
