// SPDX-License-Identifier: Apache-2.0
// One GET over HTTP or HTTPS. The only file behind it that knows libcurl is http_get_curl.cc.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace nereid::server {

struct HttpGet {
  std::string url;
  std::vector<std::string> headers;                    // "Name: value"
  std::function<Status(std::string_view bytes)> take;  // of the body, piece by piece; an error ends it
};
struct HttpGot {
  int status = 0;
  std::string type;  // Content-Type
};
// Any thread. Follows no redirects. kUnavailable: no answer, or one that stopped coming; kUnsupported: there is no
// libcurl; kCancelled: interrupted() (base/interrupt.h).
Result<HttpGot> http_get(const HttpGet& request);

}  // namespace nereid::server
