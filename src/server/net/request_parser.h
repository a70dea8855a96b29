// SPDX-License-Identifier: Apache-2.0
// Bytes of a connection -> one HTTP/1.x request, within limits. Knows no socket and no time.
//
// What two servers on one path could read differently is refused rather than guessed: a length beside chunks, another
// coding than "chunked", no or several Hosts.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "server/net/endpoint.h"
#include "server/net/http.h"
#include "server/net/settings.h"

namespace nereid::server::net {

class RequestParser {
 public:
  enum class State { kHead, kBody, kDone, kFailed };

  // The memory of long bodies comes from the pool, where one is given.
  explicit RequestParser(const Settings& limits, std::shared_ptr<BytePool> pool = nullptr);
  ~RequestParser();
  RequestParser(RequestParser&&) noexcept;

  // Takes what it can of `bytes` and tells how many that were; the rest comes again with more behind it. A head is
  // taken whole, so nothing is taken before its last byte is there. Once kDone or kFailed, nothing more is taken.
  size_t feed(std::string_view bytes);
  State state() const;
  // kBody of known length: where its next bytes may be put, so that nothing has to copy them; else empty. What was put
  // there is told by body_came(), before anything else is called.
  std::span<char> body_room();
  void body_came(size_t bytes);

  // kBody or kDone: what the head says.
  Request head() const;  // without query, body and parameters
  bool is_http_1_0() const;
  bool keeps_alive() const;
  bool expects_continue() const;  // the client waits for "100 Continue" before it sends the body

  const HttpError& error() const;  // kFailed
  Request take();                  // kDone; peer, parameters and time are the caller's

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// %XX and, in a query, '+' decoded. False where a '%' has no two hexadecimal digits behind it.
bool decode_percent(std::string_view text, bool is_query, std::string* decoded);
// "a=1&b=x%20y" -> names and values. False as decode_percent().
bool parse_query(std::string_view text, NamedValues* values);

}  // namespace nereid::server::net
