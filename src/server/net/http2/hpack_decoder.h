// SPDX-License-Identifier: Apache-2.0
// Header blocks to headers (RFC 7541), one direction of one connection.
#pragma once

#include "server/net/http2/header_fields.h"
#include "server/net/http2/hpack_table.h"

namespace nereid::server::net::http2 {

class HpackDecoder {
 public:
  enum class Outcome {
    kDone,
    kTooLong,  // more than `most_bytes` of headers: `fields` are cut, the table is right for the next block
    kBroken,   // the connection cannot go on
  };
  // `most_bytes` counts as SETTINGS_MAX_HEADER_LIST_SIZE does: names, values and 32 bytes for each.
  Outcome decode(std::string_view block, size_t most_bytes, HeaderFields* fields);

 private:
  DynamicTable table_;
};

}  // namespace nereid::server::net::http2
