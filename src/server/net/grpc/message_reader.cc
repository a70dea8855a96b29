// SPDX-License-Identifier: Apache-2.0
#include "server/net/grpc/message_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "server/net/http2/frame.h"

namespace nereid::server::net::grpc {
namespace {

// What is made ready at a time: a message's length is only the client's word.
constexpr size_t kRoomBytes = 256 << 10;
// A message may grow to so many bytes, or so many times its size, when it is unpacked.
constexpr int64_t kGrownBytes = int64_t{64} << 20, kGrownTimes = 64;

}  // namespace

std::span<char> MessageReader::room() {
  if (is_broken_) return {};
  if (head_bytes_ < sizeof head_) return std::span(head_).subspan(head_bytes_);
  if (text_.size() == bytes_) text_.resize(std::min(length_, bytes_ + kRoomBytes));
  return std::span(text_).subspan(bytes_, std::min(text_.size(), length_) - bytes_);
}

std::shared_ptr<const std::string> MessageReader::came(size_t bytes, RpcStatus* status) {
  if (head_bytes_ < sizeof head_) {
    head_bytes_ += bytes;
    if (head_bytes_ < sizeof head_) return nullptr;
    begin(status);
  } else {
    bytes_ += bytes;
  }
  return is_broken_ || bytes_ < length_ ? nullptr : end(status);
}

void MessageReader::begin(RpcStatus* status) {
  length_ = http2::read_number(head_ + 1, 4);
  bytes_ = 0;
  if (static_cast<unsigned char>(head_[0]) > 1) {
    *status = {RpcCode::kInternal, fmt::format("a message begins with {}, where 0 or 1 says whether it is packed",
                                               static_cast<unsigned char>(head_[0]))};
  } else if (head_[0] == 1 && !coding_) {
    *status = {RpcCode::kInternal, "a message is packed, but grpc-encoding does not say how"};
  } else if (static_cast<int64_t>(length_) > most_bytes_) {
    *status = {RpcCode::kResourceExhausted,
               fmt::format("Received message larger than max ({} vs. {})", length_, most_bytes_)};
  }
  is_broken_ = !status->is_ok();
  if (is_broken_) return;
  // What a string of the pool holds means nothing, so that its length needs no clearing.
  text_ = pool_->take(length_);
  if (text_.size() > length_) text_.resize(length_);
}

std::shared_ptr<const std::string> MessageReader::end(RpcStatus* status) {
  head_bytes_ = 0;
  text_.resize(length_);
  std::string whole = std::move(text_);
  text_ = {};
  if (head_[0] == 0) return pool_->share(std::move(whole));
  std::string plain;
  const int64_t most = std::min(most_bytes_, std::max(kGrownBytes, kGrownTimes * static_cast<int64_t>(whole.size())));
  std::optional<HttpError> error;
  if (!whole.empty()) error = decode(*coding_, whole, most, &plain);
  pool_->give(std::move(whole));
  if (!error) return pool_->share(std::move(plain));
  is_broken_ = true;
  *status = {error->status == 413 ? RpcCode::kResourceExhausted : RpcCode::kInternal, error->message};
  return nullptr;
}

}  // namespace nereid::server::net::grpc
