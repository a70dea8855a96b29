// SPDX-License-Identifier: Apache-2.0
// A body cut into messages (gRPC over HTTP/2, "Length-Prefixed-Message"): each is read straight to where it stays.
// Pure.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "server/core/byte_pool.h"
#include "server/net/content_coding.h"
#include "server/net/grpc/rpc_status.h"

namespace nereid::server::net::grpc {

class MessageReader {
 public:
  MessageReader(std::shared_ptr<BytePool> pool, int64_t most_bytes, std::optional<Coding> coding)
      : pool_(std::move(pool)), most_bytes_(most_bytes), coding_(coding) {}

  // Where the next bytes go; empty after an error.
  std::span<char> room();
  // So many of them are there. A message when that was the last of it; an error, once, in `status`.
  std::shared_ptr<const std::string> came(size_t bytes, RpcStatus* status);
  bool is_between() const { return head_bytes_ == 0; }
  // Memory that is held for a message that is not whole.
  int64_t held_bytes() const { return static_cast<int64_t>(text_.size()); }

 private:
  void begin(RpcStatus* status);
  std::shared_ptr<const std::string> end(RpcStatus* status);

  const std::shared_ptr<BytePool> pool_;
  const int64_t most_bytes_;
  const std::optional<Coding> coding_;
  char head_[5] = {};
  size_t head_bytes_ = 0;
  std::string text_;  // the message and room for it
  size_t length_ = 0, bytes_ = 0;
  bool is_broken_ = false;
};

}  // namespace nereid::server::net::grpc
