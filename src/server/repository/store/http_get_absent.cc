// SPDX-License-Identifier: Apache-2.0
#include "server/repository/store/http_get.h"

namespace nereid::server {

Result<HttpGot> http_get(const HttpGet& request) {
  return unsupported(
      "this build cannot read {}: it was made without libcurl's header; install libcurl4-openssl-dev and build anew",
      request.url);
}

}  // namespace nereid::server
