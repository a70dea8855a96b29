// SPDX-License-Identifier: Apache-2.0
// The Huffman code of header texts (RFC 7541, section 5.2 and appendix B).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nereid::server::net::http2 {

// Appends what `bytes` stand for. False: they are no such code (the symbol of the end in it, or padding that is longer
// than 7 bits or not of ones).
bool huffman_decode(std::string_view bytes, std::string* out);

}  // namespace nereid::server::net::http2
