// SPDX-License-Identifier: Apache-2.0
// Feeds any bytes to the safetensors reader and touches whatever it accepts. Corpus: tests/corpus/safetensors_fuzz.
#include <cstdlib>

#include "import/safetensors/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = nereid::import::safetensors::parse({reinterpret_cast<const std::byte*>(data), size});
  if (!file) return 0;
  volatile unsigned sum = 0;
  for (const auto& tensor : file->tensors) {
    if (file->find(tensor.name) != &tensor) std::abort();
    const auto* bytes = static_cast<const uint8_t*>(tensor.view.data);
    for (int64_t i = 0; i < tensor.view.bytes(); ++i) sum = sum + bytes[i];
  }
  return 0;
}
