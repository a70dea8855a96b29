// SPDX-License-Identifier: Apache-2.0
// Feeds any bytes to the reader of shard indices. Corpus: tests/corpus/safetensors_index_fuzz.
#include <cstdint>
#include <cstdlib>

#include "import/safetensors/index.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto shards = nereid::import::safetensors::parse_index({reinterpret_cast<const char*>(data), size});
  if (!shards) return 0;
  for (const auto& [file, names] : *shards)
    if (file.empty() || names.empty() || file.find('/') != std::string::npos) std::abort();
  return 0;
}
