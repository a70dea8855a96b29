// SPDX-License-Identifier: Apache-2.0
// Bytes of an HTTP/1.1 response -> its status and its body's pieces, and the events that such pieces hold. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace nereid::server::load {

class ResponseReader {
 public:
  // Gives each piece of the body to `body`. Returns how many bytes were taken: all, but for what comes after the end.
  size_t feed(std::string_view bytes, const std::function<void(std::string_view)>& body);
  // The connection has ended; that is the end of a body that says no length.
  void end();

  bool is_done() const { return state_ == State::kDone; }
  bool is_failed() const { return state_ == State::kFailed; }
  bool has_begun() const { return has_begun_; }
  int status() const { return status_; }
  bool keeps_alive() const { return keeps_alive_; }

 private:
  enum class State { kHead, kLength, kChunkSize, kChunk, kChunkEnd, kTrailer, kToEnd, kDone, kFailed };
  bool take_line(std::string_view* bytes);
  void take_head_line();
  void end_head();

  State state_ = State::kHead;
  std::string line_;
  int status_ = 0;
  int64_t left_ = -1;  // of the body, or of a chunk; -1: not said
  bool has_begun_ = false, is_chunked_ = false, keeps_alive_ = true;
};

// Server-sent events: the "data:" of each one.
class EventReader {
 public:
  void feed(std::string_view bytes, const std::function<void(std::string_view)>& event);

 private:
  std::string line_, data_;
};

// True where a chunk of a completion or of a chat brings text (or a call): its first one often brings a role alone.
bool brings_text(std::string_view event);

}  // namespace nereid::server::load
