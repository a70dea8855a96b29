// SPDX-License-Identifier: Apache-2.0
// For tests only: the LoRA adapters of the tiny models, with what PEFT computes with them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "llm/run/tiny_model.h"

namespace nereid::llm::testing {

inline constexpr const char* kTinyAdapters[] = {"plain", "all", "mlp"};

inline std::string tiny_adapter_path(const std::string& model, const std::string& adapter) {
  return tiny_path(model) + ".adapters/" + adapter;
}

struct AdapterExpected {
  std::vector<int32_t> greedy_tokens;
  std::vector<float> logits;  // of the prompt's last token
};
struct AdaptersExpected {
  std::vector<int32_t> prompt_tokens;
  std::map<std::string, AdapterExpected> adapters;  // "": none
};

inline AdaptersExpected tiny_adapters_expected(const std::string& model) {
  const Json json = parse_json(read_file(tiny_path(model) + ".adapters/expected.json", 1 << 20).value()).value();
  AdaptersExpected e{json["prompt_tokens"], {}};
  for (const auto& [name, one] : json["adapters"].items()) e.adapters[name] = {one["greedy_tokens"], one["logits"]};
  return e;
}

// A failure fails the test by a check. "": null, which is no adapter.
inline std::shared_ptr<const runtime::Adapter> tiny_adapter(const LanguageModel& model, const std::string& name,
                                                            const std::string& adapter, double scale = 1) {
  if (adapter.empty()) return nullptr;
  const compile::AdapterSource source{tiny_adapter_path(name, adapter), scale};
  return model.open_adapter({&source, 1}).value().adapter;
}

}  // namespace nereid::llm::testing
