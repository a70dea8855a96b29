// SPDX-License-Identifier: Apache-2.0
// Any bytes as tokenizer.json (and, after a NUL, tokenizer_config.json): an error or a tokenizer that works.
#include "llm/token/fuzz_use.h"
#include "llm/token/source_huggingface.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nereid::token;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t end = bytes.find('\0');
  HuggingFaceFiles files;
  files.tokenizer_json = bytes.substr(0, end);
  if (end != std::string_view::npos) files.tokenizer_config = bytes.substr(end + 1);
  fuzz_use(spec_from_huggingface(files));
  return 0;
}
