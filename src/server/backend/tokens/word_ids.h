// SPDX-License-Identifier: Apache-2.0
// Words as TensorRT-LLM's models take them: [2, n], the tokens of all words one after the other, and below them where
// each word ends, -1 for the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nereid::server {

// `n` columns, which the words' tokens may be fewer than: zeros and -1 fill them.
std::vector<int32_t> word_ids(const std::vector<std::vector<int32_t>>& words, size_t n);
// Columns that the words need.
size_t word_columns(const std::vector<std::vector<int32_t>>& words);

}  // namespace nereid::server
