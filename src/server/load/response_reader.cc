// SPDX-License-Identifier: Apache-2.0
#include "server/load/response_reader.h"

#include <algorithm>
#include <charconv>

namespace nereid::server::load {
namespace {

constexpr size_t kMaxLine = 64 << 10;
constexpr size_t kMaxEvent = 16 << 20;

bool begins_ignoring_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), text.begin(), [](char a, char b) {
           return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b | 0x20) : b);
         });
}

std::string_view value_of(std::string_view line) {
  std::string_view value = line.substr(line.find(':') + 1);
  while (value.starts_with(' ')) value.remove_prefix(1);
  return value;
}

// -1 where it is none.
int64_t number_in(std::string_view text, int base) {
  int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end != text.data() && value >= 0 ? value : -1;
}

}  // namespace

// True: a line is whole, without its end.
bool ResponseReader::take_line(std::string_view* bytes) {
  const size_t end = bytes->find('\n');
  line_.append(bytes->substr(0, end));
  bytes->remove_prefix(end == bytes->npos ? bytes->size() : end + 1);
  if (line_.size() > kMaxLine) state_ = State::kFailed;
  if (end == std::string_view::npos || state_ == State::kFailed) return false;
  if (line_.ends_with('\r')) line_.pop_back();
  return true;
}

void ResponseReader::take_head_line() {
  if (status_ == 0) {
    if (!line_.starts_with("HTTP/1.") || line_.size() < 12) {
      state_ = State::kFailed;
      return;
    }
    status_ = static_cast<int>(std::max<int64_t>(0, number_in(std::string_view(line_).substr(9, 3), 10)));
    keeps_alive_ = line_.starts_with("HTTP/1.1");
    if (status_ < 100) state_ = State::kFailed;
  } else if (line_.empty()) {
    end_head();
  } else if (begins_ignoring_case(line_, "content-length:")) {
    left_ = number_in(value_of(line_), 10);
    if (left_ < 0) state_ = State::kFailed;
  } else if (begins_ignoring_case(line_, "transfer-encoding:")) {
    is_chunked_ = begins_ignoring_case(value_of(line_), "chunked");
  } else if (begins_ignoring_case(line_, "connection:")) {
    keeps_alive_ = !begins_ignoring_case(value_of(line_), "close");
  }
}

void ResponseReader::end_head() {
  if (status_ < 200) {  // "100 Continue": another head follows
    status_ = 0;
    return;
  }
  if (status_ == 204 || status_ == 304) left_ = 0;
  if (is_chunked_) {
    state_ = State::kChunkSize;
  } else if (left_ >= 0) {
    state_ = left_ == 0 ? State::kDone : State::kLength;
  } else {
    state_ = State::kToEnd;
    keeps_alive_ = false;
  }
}

size_t ResponseReader::feed(std::string_view bytes, const std::function<void(std::string_view)>& body) {
  const size_t all = bytes.size();
  while (!bytes.empty() && state_ != State::kDone && state_ != State::kFailed) {
    has_begun_ = true;
    switch (state_) {
      case State::kLength:
      case State::kChunk:
      case State::kToEnd: {
        const size_t n = state_ == State::kToEnd ? bytes.size() : std::min(bytes.size(), static_cast<size_t>(left_));
        body(bytes.substr(0, n));
        bytes.remove_prefix(n);
        if (state_ == State::kToEnd) break;
        left_ -= static_cast<int64_t>(n);
        if (left_ == 0) state_ = state_ == State::kLength ? State::kDone : State::kChunkEnd;
        break;
      }
      default: {
        if (!take_line(&bytes)) break;
        const State before = state_;
        if (before == State::kHead) {
          take_head_line();
        } else if (before == State::kChunkSize) {
          left_ = number_in(line_, 16);
          state_ = left_ < 0 ? State::kFailed : left_ == 0 ? State::kTrailer : State::kChunk;
        } else if (before == State::kChunkEnd) {
          state_ = line_.empty() ? State::kChunkSize : State::kFailed;
        } else if (before == State::kTrailer && line_.empty()) {
          state_ = State::kDone;
        }
        line_.clear();
      }
    }
  }
  return all - bytes.size();
}

void ResponseReader::end() {
  if (state_ == State::kToEnd) {
    state_ = State::kDone;
  } else if (state_ != State::kDone) {
    state_ = State::kFailed;
  }
}

void EventReader::feed(std::string_view bytes, const std::function<void(std::string_view)>& event) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    line_.append(bytes.substr(0, end));
    bytes.remove_prefix(end == bytes.npos ? bytes.size() : end + 1);
    if (line_.size() > kMaxEvent || data_.size() > kMaxEvent) line_.clear(), data_.clear();
    if (end == std::string_view::npos) return;
    if (line_.ends_with('\r')) line_.pop_back();
    if (line_.empty()) {
      if (!data_.empty()) event(data_);
      data_.clear();
    } else if (line_.starts_with("data:")) {
      if (!data_.empty()) data_ += '\n';
      data_ += value_of(line_);
    }
    line_.clear();
  }
}

// By search rather than by parsing: the machine that is measured often makes the load, too.
bool brings_text(std::string_view event) {
  for (const std::string_view name : {"\"content\":", "\"text\":", "\"reasoning_content\":", "\"arguments\":"}) {
    for (size_t at = event.find(name); at != event.npos; at = event.find(name, at + 1)) {
      size_t value = at + name.size();
      while (value < event.size() && event[value] == ' ') ++value;
      if (value + 1 < event.size() && event[value] == '"' && event[value + 1] != '"') return true;
    }
  }
  return false;
}

}  // namespace nereid::server::load
