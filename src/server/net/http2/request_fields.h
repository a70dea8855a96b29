// SPDX-License-Identifier: Apache-2.0
// Whether headers make a request, and which (RFC 9113, sections 8.2 and 8.3).
#pragma once

#include "server/net/http2/stream.h"

namespace nereid::server::net::http2 {

// False: they are malformed. `content_length` is -1 where there is none.
bool read_request_fields(HeaderFields&& fields, RequestHead* head, int64_t* content_length);
// What may stand behind a body.
bool are_trailers(const HeaderFields& fields);

}  // namespace nereid::server::net::http2
