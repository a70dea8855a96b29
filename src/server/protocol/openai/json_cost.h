// SPDX-License-Identifier: Apache-2.0
// What a JSON text takes in memory once it is a document, known before it is one.
#pragma once

#include <cstdint>
#include <string_view>

namespace nereid::server::openai {

// Most that one document may take: half a million members, or a million numbers in arrays (128 prompts of 8,192 ids).
constexpr int64_t kMaxDocumentBytes = int64_t{96} << 20;

// An upper bound of the bytes that the text's document takes at any moment of its making. One pass; any text.
int64_t document_bytes(std::string_view json);

}  // namespace nereid::server::openai
