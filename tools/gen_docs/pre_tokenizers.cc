// SPDX-License-Identifier: Apache-2.0
// docs/reference/pre-tokenizers.md: every name that GGUF files give in tokenizer.ggml.pre.
#include "gen_docs/page.h"
#include "llm/token/pre_table.h"

namespace nereid::docs {

std::string pre_tokenizers_page() {
  std::string page =
      "# Pre-tokenizers\n\nThe names GGUF files give in `tokenizer.ggml.pre`. Patterns are applied one after another; "
      "each match becomes a\n"
      "piece that is tokenized by itself.\n";
  for (const token::PreTokenizerRow& pre : token::pre_tokenizer_table()) {
    page += "\n## " + std::string(pre.name) + "\n\n";
    for (std::string_view pattern : pre.patterns)
      if (!pattern.empty()) page += "- " + code(pattern) + "\n";
    if (pre.ignore_merges) page += "- a piece that is a token is taken whole\n";
    if (pre.add_bos) page += "- begins with BOS unless the file says otherwise\n";
    if (pre.escape_spaces) page += "- spaces become U+2581 first\n";
    if (pre.add_separator) page += "- ends with the separator\n";
    if (!pre.byte_level) page += "- the vocabulary is written in plain characters\n";
  }
  return page;
}

}  // namespace nereid::docs
