// SPDX-License-Identifier: Apache-2.0
// For tests: third-party vocabularies under build/models, and tokenizers made of them.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "import/gguf/gguf.h"
#include "llm/token/source_gguf.h"
#include "llm/token/tokenizer.h"

namespace nereid::token::testing {

inline constexpr std::string_view kLlamaCppModels = "llama_cpp_python-0.3.36/vendor/llama.cpp/models/";

// <repository>/build/models/<name>; scripts/fetch_models puts the packages there.
inline std::string model_path(std::string_view name) {
  return std::string(NEREID_SOURCE_DIR) + "/build/models/" + std::string(name);
}

inline std::optional<std::string> read_whole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// nullptr if the file is not there; any other trouble fails the test.
inline std::unique_ptr<Tokenizer> gguf_tokenizer(const std::string& path) {
  if (!std::ifstream(path)) return nullptr;
  Result<import::gguf::GgufFile> file = import::gguf::open(path);
  if (!file.is_ok()) {
    ADD_FAILURE() << file.status().message();
    return nullptr;
  }
  Result<TokenizerSpec> spec = spec_from_gguf(file->metadata);
  if (!spec.is_ok()) {
    ADD_FAILURE() << spec.status().message();
    return nullptr;
  }
  Result<std::unique_ptr<Tokenizer>> tokenizer = make_tokenizer(std::move(spec).value());
  if (!tokenizer.is_ok()) {
    ADD_FAILURE() << tokenizer.status().message();
    return nullptr;
  }
  return std::move(tokenizer).value();
}

}  // namespace nereid::token::testing
