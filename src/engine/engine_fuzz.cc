// SPDX-License-Identifier: Apache-2.0
// Feeds any bytes to the engine reader, as they are and with their checksums made right, and reads all weights of what
// it accepts. Corpus: tests/corpus/engine_fuzz.
#include <cstdlib>

#include "engine/test_engine.h"

namespace {

void read(std::span<const std::byte> bytes) {
  using namespace nereid::engine;
  const auto file = EngineFile::parse(bytes, "fuzzed");
  if (!file.is_ok()) {
    if (file.status().message().empty()) std::abort();
    return;
  }
  std::vector<std::byte> weights(static_cast<size_t>(file->weights_bytes()));
  for (int64_t i = 0; i < file->chunk_count(); ++i) (void)file->read_chunk(i, weights.data() + i * kChunkBytes);
  for (const WeightEntry& w : file->weights())
    if (w.offset + w.bytes > file->weights_bytes()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  read(bytes);
  if (size < sizeof(nereid::engine::Header)) return 0;
  read(nereid::engine::testing::with_header({bytes.begin(), bytes.end()}, [&](nereid::engine::Header& h) {
    h.magic = nereid::engine::kMagic;
    h.version = nereid::engine::kEngineVersion;
    h.file_size = static_cast<int64_t>(size);
  }));
  return 0;
}
