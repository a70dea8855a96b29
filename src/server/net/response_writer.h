// SPDX-License-Identifier: Apache-2.0
// One response after the other as bytes that wait to be sent: heads, framing, and bodies, of which long ones stay where
// the handler left them. Knows no socket and no time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/net/exchange.h"
#include "server/net/router.h"

namespace nereid::server::net {

class ResponseWriter {
 public:
  // What the request says about its response.
  struct Terms {
    bool is_http_1_0 = false, is_head_request = false, keeps_alive = false;
  };

  // The next response; the one before has been sent.
  void begin(const Terms& terms);
  // Tells the client to send its body.
  void append_continue();
  // What the handler has made since the last call, with a head or after it. `router` knows what every head carries.
  void append(Exchange::Part&& part, const Router& router, std::string_view date);
  // All of it, where nothing of a response has been appended yet.
  void append_whole(Response&& response, const Router& router, std::string_view date);
  // This response is the last of its connection.
  void close_after() { terms_.keeps_alive = false; }

  bool has_head() const { return has_head_; }
  bool is_whole() const { return is_whole_; }  // appended to its end
  bool keeps_alive() const { return terms_.keeps_alive; }
  bool is_head_request() const { return terms_.is_head_request; }
  int status() const { return status_; }              // 0: there is no head yet
  int64_t body_bytes() const { return body_bytes_; }  // appended

  // ---- what is to be sent
  bool has_output() const { return left_ > 0; }
  size_t left() const { return left_; }
  // The pieces that come next, at most `most.size()` of them; how many there are.
  size_t pieces(std::span<std::string_view> most) const;
  void sent(size_t bytes);

 private:
  void append_head(const Response& head, bool is_whole, const Router& router, std::string_view date);
  void append_body(Response&& response);
  void append_text(std::string_view text);

  Terms terms_;
  bool has_head_ = false, is_whole_ = false, is_chunked_ = false;
  int status_ = 0;
  int64_t body_bytes_ = 0;
  std::string text_;
  size_t text_sent_ = 0;
  std::vector<BodyPart> parts_;  // behind the text, which is not appended to while there are any
  size_t part_ = 0;              // the first that is not all sent; its bytes are those that are left
  size_t left_ = 0;
};

}  // namespace nereid::server::net
