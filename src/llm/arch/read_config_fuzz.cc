// SPDX-License-Identifier: Apache-2.0
// Any config.json and any GGUF metadata give a checked ModelConfig or a sentence; what passes the checks is computable.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "llm/arch/arch_table.h"
#include "llm/arch/read_config.h"
#include "llm/arch/read_rope.h"

namespace {

using namespace nereid;
using namespace nereid::llm;

void read(const Architecture& arch, const ArchInput& input) {
  const HyperParameters params(input);
  auto config = read_config(arch, params, 128);
  if (!config.is_ok()) return;
  auto ropes = read_ropes(arch, params, *config);
  if (!ropes.is_ok()) return;
  for (const RopeConfig& rope : *ropes) {
    if (!check_rope(rope, config->head_dim).is_ok()) return;
    for (const int64_t context : {int64_t{1}, config->context_length}) {
      const RopeTable table = rope_table(rope, context);
      if (static_cast<int64_t>(table.inv_freq.size()) != rope.dim / 2 || std::isnan(table.scale)) std::abort();
      for (const float f : table.inv_freq) {
        if (std::isnan(f)) std::abort();
      }
    }
  }
  if (config->spans.size() != static_cast<size_t>(config->layers)) std::abort();
  for (const AttentionSpan& span : config->spans) {
    if (arch.theta != 0 && span.rope >= ropes->size()) std::abort();
  }
}

}  // namespace

// The first byte chooses the architecture (and the format, by its highest bit), the rest is the file.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const Architecture& arch = *arch_table()[(data[0] & 0x7f) % arch_table().size()];
  ArchInput input;
  input.tensor = [](std::string_view) { return nullptr; };
  if (data[0] & 0x80) {
    const auto metadata = Metadata::parse(bytes);
    if (!metadata.is_ok()) return 0;
    input.gguf = &*metadata;
    input.architecture = arch.name;
    read(arch, input);
  } else {
    const auto config = parse_json(bytes);
    if (!config.is_ok()) return 0;
    input.hf = &*config;
    static_cast<void>(find_architecture(input));
    read(arch, input);
  }
  return 0;
}
