// SPDX-License-Identifier: Apache-2.0
// What a server answers: rows of method, path and handler, and how it says that it does not.
//
// A protocol makes a vector of endpoints from its own table; the host joins them in a Router (router.h).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "server/net/http.h"

namespace nereid::server::net {

// Who an endpoint is for, and on which thread its handler runs.
enum class Access : uint8_t { kKey, kOpen };       // kKey: needs an API key where the server has some
enum class Runs : uint8_t { kOnWorker, kOnLoop };  // kOnLoop: the handler neither blocks nor computes (health, metrics)

struct Endpoint {
  std::string method;   // "POST"; GET answers HEAD, too
  std::string pattern;  // "/v1/models/{model}"; a last "{rest...}" takes what is left, slashes and all
  std::string summary;  // a line for the reference
  Handler handle;
  Access access = Access::kKey;
  Runs runs = Runs::kOnWorker;
  // Of kOnWorker: with a body of at most so many bytes, not packed, the handler computes so little that it runs on the
  // loop; handing a request to another thread and its response back costs more.
  size_t loop_bytes = 0;
  // The header that says how many bytes of the body the handler computes with, where there is one: the rest is tensors
  // that it only hands on. Bodies of more than kMostLoopBody go to a worker all the same.
  std::string_view loop_header = {};
  static constexpr size_t kMostLoopBody = size_t{8} << 20;
};

// Something that no handler got to answer.
struct HttpError {
  int status = 400;     // 400, 401, 404, 405, 408, 411, 413, 414, 415, 417, 431, 500, 501, 503, 504, 505
  std::string message;  // a sentence
  std::string path;     // "" where the request could not be read that far
};

// An error as a protocol writes them. The server adds Allow, WWW-Authenticate, Retry-After and what tells clients
// not to try again itself.
using ErrorShape = std::function<Response(const HttpError& error)>;

// {"error":"<sentence>"}
Response plain_error(const HttpError& error);

}  // namespace nereid::server::net
