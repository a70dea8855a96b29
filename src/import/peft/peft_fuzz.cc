// SPDX-License-Identifier: Apache-2.0
// Any configuration and any tensors: a JSON text, a zero byte, then a safetensors file. Corpus: tests/corpus/peft_fuzz.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "import/peft/peft.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nereid;
  const uint8_t* end = std::find(data, data + size, uint8_t{0});
  const auto json = parse_json({reinterpret_cast<const char*>(data), static_cast<size_t>(end - data)},
                               {.max_depth = 32, .max_bytes = 1 << 16});
  if (!json || end == data + size) return 0;
  const std::span<const std::byte> rest(reinterpret_cast<const std::byte*>(end + 1),
                                        static_cast<size_t>(data + size - end - 1));
  auto weights = import::safetensors::parse(rest);
  if (!weights) return 0;
  const auto adapter = import::peft::read(*json, std::move(*weights));
  if (!adapter) return 0;
  for (const import::peft::Module& m : adapter->modules)
    if (m.rank() < 1 || m.a.sizes[0] != m.b.sizes[1] || !std::isfinite(m.scale)) std::abort();
  return 0;
}
