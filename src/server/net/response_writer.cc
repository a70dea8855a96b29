// SPDX-License-Identifier: Apache-2.0
#include "server/net/response_writer.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "server/net/response_text.h"

namespace nereid::server::net {
namespace {

constexpr size_t kCopied = 8 << 10;  // shorter bodies are copied behind their heads: one piece to send
constexpr size_t kKept = 64 << 10;   // of memory for the next response

bool has_no_body(int status) {
  return status < 200 || status == 204 || status == 304;
}

}  // namespace

void ResponseWriter::begin(const Terms& terms) {
  terms_ = terms;
  has_head_ = is_whole_ = is_chunked_ = false;
  status_ = 0;
  body_bytes_ = 0;
}

void ResponseWriter::append_text(std::string_view text) {
  text_ += text;
  left_ += text.size();
}

void ResponseWriter::append_continue() {
  append_text("HTTP/1.1 100 Continue\r\n\r\n");
}

void ResponseWriter::append_head(const Response& head, bool is_whole, const Router& router, std::string_view date) {
  has_head_ = true;
  status_ = head.status;
  const size_t begin = text_.size();
  net::append_head(&text_, head.status, head.headers);
  Headers more;
  router.add_origin_headers(&more);
  for (const auto& [name, value] : more) append_header(&text_, name, value);
  if (is_whole && !has_no_body(head.status)) {
    append_header(&text_, "Content-Length", std::to_string(head.body_bytes()));
  } else if (!is_whole && !terms_.is_http_1_0) {
    is_chunked_ = true;
    append_header(&text_, "Transfer-Encoding", "chunked");
  } else if (!is_whole) {
    terms_.keeps_alive = false;  // HTTP/1.0: the end of the connection is the end of the body
  }
  append_header(&text_, "Date", date);
  if (!terms_.keeps_alive) append_header(&text_, "Connection", "close");
  if (terms_.keeps_alive && terms_.is_http_1_0) append_header(&text_, "Connection", "keep-alive");
  text_ += "\r\n";
  left_ += text_.size() - begin;
}

// What is short joins the text, what is long stays where it lies.
void ResponseWriter::append_body(Response&& response) {
  NEREID_CHECK(parts_.empty());
  const auto add = [this](std::string_view bytes, auto&& owner) {
    if (bytes.empty()) return;
    if (bytes.size() < kCopied && parts_.empty()) return append_text(bytes);
    left_ += bytes.size();
    parts_.push_back({.bytes = bytes, .owner = owner()});
  };
  body_bytes_ += static_cast<int64_t>(response.body_bytes());
  if (response.body.size() < kCopied) {
    append_text(response.body);
  } else {
    auto owned = std::make_shared<const std::string>(std::move(response.body));
    add(*owned, [&] { return owned; });
  }
  for (BodyPart& part : response.parts) add(part.bytes, [&] { return std::move(part.owner); });
}

void ResponseWriter::append_whole(Response&& response, const Router& router, std::string_view date) {
  append_head(response, true, router, date);
  is_whole_ = true;
  if (!terms_.is_head_request && !has_no_body(status_)) append_body(std::move(response));
}

void ResponseWriter::append(Exchange::Part&& part, const Router& router, std::string_view date) {
  if (part.has_head && part.is_whole) return append_whole(std::move(part.head), router, date);
  if (part.has_head) append_head(part.head, false, router, date);
  // What would be streamed to a HEAD is not: the head is all there is to it.
  is_whole_ = part.is_end || terms_.is_head_request;
  if (terms_.is_head_request || has_no_body(status_)) return;
  body_bytes_ += static_cast<int64_t>(part.bytes.size());
  const size_t before = text_.size();
  if (is_chunked_) {
    append_chunk(&text_, part.bytes);
    if (part.is_end) text_ += kLastChunk;
  } else {
    text_ += part.bytes;
  }
  left_ += text_.size() - before;
}

size_t ResponseWriter::pieces(std::span<std::string_view> most) const {
  size_t count = 0;
  if (text_sent_ < text_.size()) most[count++] = std::string_view(text_).substr(text_sent_);
  for (size_t i = part_; i < parts_.size() && count < most.size(); ++i) most[count++] = parts_[i].bytes;
  return count;
}

void ResponseWriter::sent(size_t bytes) {
  left_ -= bytes;
  const size_t of_text = std::min(bytes, text_.size() - text_sent_);
  text_sent_ += of_text;
  bytes -= of_text;
  for (; part_ < parts_.size() && (bytes > 0 || parts_[part_].bytes.empty()); ++part_) {
    std::string_view& rest = parts_[part_].bytes;
    const size_t n = std::min(bytes, rest.size());
    rest.remove_prefix(n);
    bytes -= n;
    if (!rest.empty()) break;
    parts_[part_].owner.reset();
  }
  if (text_sent_ > kKept && left_ > 0) text_.erase(0, std::exchange(text_sent_, 0));
  if (left_ > 0) return;
  text_.clear();
  text_sent_ = 0;
  parts_.clear();
  part_ = 0;
  if (text_.capacity() > kKept) text_ = {};
}

}  // namespace nereid::server::net
