// SPDX-License-Identifier: Apache-2.0
// HTTP as handlers see it: a request, and who takes its response. Nothing of sockets, framing or TLS.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/core/byte_pool.h"

namespace nereid::server::net {

// Names are compared without regard to case; order is kept.
class Headers {
 public:
  using Entry = std::pair<std::string, std::string>;
  Headers() = default;
  Headers(std::initializer_list<Entry> entries) : entries_(entries) {}

  // The first of that name; "" when there is none.
  std::string_view get(std::string_view name) const;
  bool has(std::string_view name) const;
  void add(std::string name, std::string value) { entries_.emplace_back(std::move(name), std::move(value)); }
  // Replaces all of that name.
  void set(std::string name, std::string value);
  bool empty() const { return entries_.empty(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  std::vector<Entry> entries_;
};

using NamedValues = std::vector<std::pair<std::string, std::string>>;

// nullptr where there is none of that name; of several the first.
const std::string* find_value(const NamedValues& values, std::string_view name);

// What a handler hands on of a request, without copying it.
struct Request;
std::shared_ptr<const std::string> share_body(Request& request);

struct Request {
  std::string method;      // "GET"; HEAD comes as GET where a handler only knows that
  std::string target;      // as it was sent: "/v1/models/a%2Fb?limit=3"
  std::string path;        // without the query, %XX decoded: "/v1/models/a/b"
  NamedValues query;       // decoded
  NamedValues parameters;  // what the pattern's {names} stood for, decoded
  Headers headers;
  std::string body;                // whole, unchunked
  std::string peer;                // "127.0.0.1:40312", "[::1]:40312" or "unix"
  int64_t received_ns = 0;         // now_ns() when its last byte was there
  std::shared_ptr<BytePool> pool;  // where a long body's memory goes when it is shared (share_body)
  int64_t begin_ns = 0;            // and its first
};

// Bytes of a body that lie somewhere already (a model's output), and who keeps them there.
struct BodyPart {
  std::string_view bytes;
  std::shared_ptr<const void> owner;
};

struct Response {
  int status = 200;
  Headers headers;  // Content-Length, Connection, Date and Server are the server's to add
  std::string body;
  std::vector<BodyPart> parts = {};  // behind `body`; sent from where they lie

  size_t body_bytes() const {
    size_t bytes = body.size();
    for (const BodyPart& part : parts) bytes += part.bytes.size();
    return bytes;
  }
};

Response json_response(int status, std::string body);
Response text_response(int status, std::string body);

// Takes the response to one request: send(), or start(), write()... and close(). Thread-safe; keep the shared_ptr for
// as long as you have something to say. Letting go of it without an answer is answered with 500, and a stream that is
// let go of unclosed is broken off, so that the client sees that it is not whole.
class Responder {
 public:
  virtual ~Responder() = default;

  // The whole response. Once; nothing happens after it.
  virtual void send(Response response) = 0;

  // A streamed response (chunked, or to the end of the connection for HTTP/1.0): its head goes out with the first
  // bytes. What is written before the connection's thread gets to it leaves as one piece.
  virtual void start(int status, Headers headers) = 0;
  // Never blocks. False: nobody reads this any more (the client went away, the server ends, or the client reads so
  // slowly that more than Settings::stream_queue_bytes lie here, upon which its connection is closed); stop working.
  virtual bool write(std::string_view bytes) = 0;
  // The end of a streamed response.
  virtual void close() = 0;

  // `closed` is called once, on any thread, when the response can no longer reach the client before it was complete;
  // at once if that has happened already; never after send() or close(). It must return soon.
  virtual void on_closed(std::function<void()> closed) = 0;
  virtual bool is_closed() const = 0;
};

// Called on one of the server's workers, of which there are a few: it may block, and may answer later from anywhere.
using Handler = std::function<void(Request request, std::shared_ptr<Responder> responder)>;

}  // namespace nereid::server::net
