// SPDX-License-Identifier: Apache-2.0
// The pre-tokenizers that GGUF files name in tokenizer.ggml.pre: one row each.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace nereid::token {

// Regular expressions that many tokenizers share; native_split.h has hand-written equals of some.
inline constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view kLlama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view kDigitPattern = R"(\p{N})";
inline constexpr std::string_view kDigitsFromRightPattern = R"(\d{1,3}(?=(?:\d{3})*\b))";
inline constexpr std::string_view kBeforeThreeDigitsPattern = R"((?=(\d{3})+(?!\d)))";

struct PreTokenizerRow {
  std::string_view name;
  std::array<std::string_view, 6> patterns;  // applied one after another, each match becomes a piece; "" ends the list
  bool byte_level = true;                    // the vocabulary is written in GPT-2's stand-in characters
  bool ignore_merges = false;
  bool add_bos = false;        // unless tokenizer.ggml.add_bos_token says otherwise
  bool escape_spaces = false;  // a space becomes U+2581 before anything else
  bool add_separator = false;  // sequences end with the separator (BERT-like encoders)
};

// The row of that name, or nullptr.
const PreTokenizerRow* find_pre_tokenizer(std::string_view name);
// The row for models that name none, or one that is not known.
const PreTokenizerRow& default_pre_tokenizer();
std::span<const PreTokenizerRow> pre_tokenizer_table();

}  // namespace nereid::token
