// SPDX-License-Identifier: Apache-2.0
// Headers to header blocks (RFC 7541), one direction of one connection. Common ones join the client's table once; the
// others are told as they are, and Huffman's code is not used: answers have few headers.
#pragma once

#include "server/net/http2/header_fields.h"
#include "server/net/http2/hpack_table.h"

namespace nereid::server::net::http2 {

class HpackEncoder {
 public:
  // The client's SETTINGS_HEADER_TABLE_SIZE.
  void set_table_bytes(size_t bytes);
  void encode(const HeaderFields& fields, std::string* block);

 private:
  size_t common_index(const HeaderField& field) const;
  DynamicTable table_;
  size_t most_bytes_ = kFirstTableBytes;
  bool is_resized_ = false;  // which the next block has to say
};

}  // namespace nereid::server::net::http2
