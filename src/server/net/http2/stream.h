// SPDX-License-Identifier: Apache-2.0
// One request of a connection and its answer, as whoever serves requests sees them: a reader that is handed what comes,
// and an end to answer at.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/net/http2/frame.h"
#include "server/net/http2/header_fields.h"

namespace nereid::server::net::http2 {

// What a request begins with. Pseudo-headers are taken out.
struct RequestHead {
  std::string method, scheme, authority, path;
  HeaderFields headers;
  std::string peer;  // "127.0.0.1:40312"
  int64_t begin_ns = 0;
};

// Takes a request's body as it comes. All of it on the loop's thread; what it does must return soon.
class StreamReader {
 public:
  virtual ~StreamReader() = default;
  // Where the next bytes of the body are to go; empty: nobody wants more of it.
  virtual std::span<char> room() = 0;
  // So many of them are there.
  virtual void came(size_t bytes) = 0;
  // The client sends nothing more.
  virtual void end() = 0;
  // The answer cannot reach the client any more: it took the request back, went away, or did not keep to the protocol.
  // Nothing follows.
  virtual void broken(ErrorCode code) = 0;
  // So many bytes of the answer's body have gone on to the socket.
  virtual void sent(int64_t bytes) = 0;
  // Its time (StreamWriter::set_deadline) is over.
  virtual void late() = 0;
};

// A text, and behind it bytes that stay where they lie.
struct BodyPiece {
  std::string text;
  std::string_view bytes = {};
  std::shared_ptr<const void> owner = {};  // of `bytes`
  size_t size() const { return text.size() + bytes.size(); }
};

// What is said at one time: any of these, in this order.
struct Answer {
  bool drops_waiting = false;  // what was said before and has not gone on
  SharedFields head;
  std::vector<BodyPiece> body;
  SharedFields trailers;  // the end of it
  bool is_end = false;    // the end, without trailers
  std::optional<ErrorCode> reset;
};

// The end to answer at. Any thread; never blocks. Let go of before the end, the stream is reset (INTERNAL_ERROR).
class StreamWriter {
 public:
  virtual ~StreamWriter() = default;
  virtual void send(Answer answer) = 0;
  // now_ns() after which the reader's late() is called. On the loop's thread.
  virtual void set_deadline(int64_t at_ns) = 0;
};

}  // namespace nereid::server::net::http2
