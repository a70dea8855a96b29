// SPDX-License-Identifier: Apache-2.0
// Typed reading of hyper-parameters from GGUF metadata or a Hugging Face config.json, whichever a model has.
//
// Every reader takes the key of both formats and gives nothing where the key is absent (or null in JSON); a value of
// another type is an error that names the key as the file does. An empty key is always absent.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "llm/arch/arch_input.h"

namespace nereid::llm {

class HyperParameters {
 public:
  explicit HyperParameters(const ArchInput& input);

  bool is_gguf() const { return gguf_ != nullptr; }
  Result<std::optional<int64_t>> integer(std::string_view gguf, std::string_view hf) const;
  Result<std::optional<double>> real(std::string_view gguf, std::string_view hf) const;
  Result<std::optional<bool>> boolean(std::string_view gguf, std::string_view hf) const;
  Result<std::optional<std::string>> text(std::string_view gguf, std::string_view hf) const;

  // The GGUF value of "<architecture>.<key>", null if absent or no GGUF.
  const MetaValue* gguf(std::string_view key) const;
  // The JSON value: of text_config where there is one, else of the file itself; null if absent, null or no JSON.
  const Json* hf(std::string_view key) const;
  // Is the key there in JSON, with the value null?
  bool is_null(std::string_view hf) const;
  // How messages call a parameter: "llama.block_count" or "num_hidden_layers in config.json".
  std::string name(std::string_view gguf, std::string_view hf) const;

 private:
  const Metadata* gguf_ = nullptr;
  const Json* hf_ = nullptr;
  const Json* text_config_ = nullptr;
  std::string prefix_;  // "llama."
};

// The same, typed, for a member of a JSON object; `object` may be null. `where` names the object in messages.
Result<std::optional<int64_t>> json_integer(const Json* object, std::string_view key, std::string_view where);
Result<std::optional<double>> json_real(const Json* object, std::string_view key, std::string_view where);
Result<std::optional<bool>> json_boolean(const Json* object, std::string_view key, std::string_view where);
Result<std::optional<std::string>> json_text(const Json* object, std::string_view key, std::string_view where);
// The member, null if absent, null or `object` is no object.
const Json* json_member(const Json* object, std::string_view key);

}  // namespace nereid::llm
