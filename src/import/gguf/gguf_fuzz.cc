// SPDX-License-Identifier: Apache-2.0
// Feeds any bytes to the GGUF reader and touches whatever it accepts. Corpus: tests/corpus/gguf_fuzz.
#include <cstdlib>
#include <cstring>
#include <memory>

#include "import/gguf/gguf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A copy: parse() wants an aligned start, and the fuzzer does not promise one.
  const auto copy = std::make_unique<std::byte[]>(size);
  if (size != 0) std::memcpy(copy.get(), data, size);
  const auto file = nereid::import::gguf::parse({copy.get(), size});
  if (!file) return 0;

  volatile unsigned sum = 0;
  for (const auto& tensor : file->tensors) {
    if (file->find(tensor.name) != &tensor) std::abort();
    const auto* bytes = static_cast<const uint8_t*>(tensor.view.data);
    for (int64_t i = 0; i < tensor.view.bytes(); ++i) sum = sum + bytes[i];
  }
  for (const auto& [key, value] : file->metadata.entries())
    if (const auto* text = std::get_if<std::string_view>(&value))
      for (char c : *text) sum = sum + static_cast<unsigned char>(c);
  return 0;
}
