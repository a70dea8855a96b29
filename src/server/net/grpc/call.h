// SPDX-License-Identifier: Apache-2.0
// A call of gRPC as services see it: what the client says of it, the messages that come, and an end to answer at.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/core/byte_pool.h"
#include "server/net/grpc/rpc_status.h"
#include "server/net/http2/server.h"

namespace nereid::server::net::grpc {

// In the order they came; values of names that end in "-bin" are decoded. gRPC's own are not among them.
using Metadata = std::vector<std::pair<std::string, std::string>>;
// nullptr where there is none of that name.
const std::string* find_metadata(const Metadata& metadata, std::string_view name);

struct CallHead {
  std::string path;  // "/package.Service/Method"
  Metadata metadata;
  std::string peer;
  int64_t begin_ns = 0;
};

// The end to answer at. Any thread; never blocks.
class Call {
 public:
  virtual ~Call() = default;
  // A message: pieces, of which long ones are sent from where they lie.
  virtual void write(std::vector<http2::BodyPiece> message) = 0;
  // The end. What was written goes before it. Once; nothing happens after it.
  virtual void finish(const RpcStatus& status) = 0;
  // write() and finish() with success, at once.
  virtual void write_last(std::vector<http2::BodyPiece> message) = 0;
  // What was written and has not gone on is dropped, and the call ends.
  virtual void abort(const RpcStatus& status) = 0;
  // Bytes that were written and have not gone on to the socket.
  virtual int64_t waiting_bytes() const = 0;
};

// What takes a call's messages. All of it on the loop's thread, and it must return soon.
class CallHandler {
 public:
  virtual ~CallHandler() = default;
  // A message, unpacked; it may be kept.
  virtual void message(std::shared_ptr<const std::string> bytes) = 0;
  // The client sends no more.
  virtual void half_close() = 0;
  // Nobody waits for the answer any more: the client has gone or taken the call back, or its time is over. Nothing
  // follows.
  virtual void cancel() = 0;
};

// Where calls are answered. Never nullptr.
using Service = std::function<std::shared_ptr<CallHandler>(CallHead&& head, std::shared_ptr<Call> call)>;

struct GrpcTerms {
  std::shared_ptr<BytePool> pool;  // of long messages
  int64_t max_message_bytes = 0x7fff'ffff;
  int64_t max_body_bytes = int64_t{1} << 30;  // of all messages that are being read
  int compression_level = 0;                  // of answers: 0 none to 3 high
  // Whether answers to this path are packed at all.
  std::function<bool(std::string_view path)> packs;
};

// What an HTTP/2 server is to call for each request.
std::function<std::shared_ptr<http2::StreamReader>(http2::RequestHead&&, std::shared_ptr<http2::StreamWriter>)>
serve_calls(GrpcTerms terms, Service service);

}  // namespace nereid::server::net::grpc
