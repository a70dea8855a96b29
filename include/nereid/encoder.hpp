// SPDX-License-Identifier: Apache-2.0
// Models of vectors and scores for C++: a thin layer over the C interface (encoder.h, which says what every call
// means). C++17 and newer.
//
//   nereid::Encoder encoder = nereid::Encoder::open("all-MiniLM-L6-v2").value_or_throw();
//   std::vector<std::vector<float>> vectors = encoder.encode({"A girl styles her hair.", "A man
//   reads."}).value_or_throw(); float score = reranker.encode({{"how tall is it?", "It is 8 m
//   tall."}}).value_or_throw()[0][0];
//
// Errors are values, as in nereid.hpp; any thread may call.
#ifndef NEREID_ENCODER_HPP
#define NEREID_ENCODER_HPP

#include <nereid/encoder.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nereid/values.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nereid {
inline namespace v1 {

struct EncoderOptions {
  int threads = 0;              // 0: one a CPU
  std::int64_t max_tokens = 0;  // of a text; 0: what its files say
  std::function<void(const char* stage, std::int64_t done, std::int64_t total)> progress;
  std::function<void(const char* text)> warn;
};

struct EncoderText {
  EncoderText(std::string first) : text(std::move(first)) {}
  EncoderText(const char* first) : text(first) {}
  EncoderText(std::string first, std::string other) : text(std::move(first)), second(std::move(other)) {}

  std::string text;
  std::optional<std::string> second;  // read together with the first
  bool truncates = false;             // what is too long loses its end; else it is an error
};

class Encoder {
 public:
  static Result<Encoder> open(const std::string& path, const EncoderOptions& options = {}) {
    nereid_encoder_options c = NEREID_ENCODER_OPTIONS_INIT;
    c.threads = options.threads;
    c.max_tokens = options.max_tokens;
    if (options.progress) {
      c.progress_user = const_cast<EncoderOptions*>(&options);
      c.progress = [](void* user, const char* stage, std::int64_t done, std::int64_t total) {
        static_cast<const EncoderOptions*>(user)->progress(stage, done, total);
        return 0;
      };
    }
    if (options.warn) {
      c.log_user = const_cast<EncoderOptions*>(&options);
      c.log = [](void* user, nereid_log_level, const char* text) {
        static_cast<const EncoderOptions*>(user)->warn(text);
      };
    }
    nereid_encoder* encoder = nullptr;
    const nereid_status opened = nereid_encoder_open(path.c_str(), &c, &encoder);
    if (opened != NEREID_OK) return Status::of(opened);
    return Encoder(encoder);
  }

  Result<nereid_encoder_info> describe() const {
    nereid_encoder_info out{};
    out.struct_size = sizeof(out);
    const nereid_status got = nereid_encoder_describe(handle_.get(), &out);
    if (got != NEREID_OK) return Status::of(got);
    return out;
  }
  // A vector, or the scores, of each text; returns when all are there.
  Result<std::vector<std::vector<float>>> encode(const std::vector<EncoderText>& texts) {
    const Result<nereid_encoder_info> info = describe();
    if (!info.ok()) return info.status();
    const auto width = static_cast<std::size_t>(info->width);
    std::vector<nereid_encoder_text> c;
    for (const EncoderText& text : texts) {
      nereid_encoder_text one = NEREID_ENCODER_TEXT_INIT;
      one.text = text.text.c_str();
      if (text.second) one.second = text.second->c_str();
      one.truncates = text.truncates ? 1 : 0;
      c.push_back(one);
    }
    std::vector<float> numbers(texts.size() * width);
    const nereid_status done =
        nereid_encoder_encode(handle_.get(), c.data(), c.size(), numbers.data(), numbers.size(), nullptr);
    if (done != NEREID_OK) return Status::of(done);
    std::vector<std::vector<float>> out;
    for (std::size_t i = 0; i < texts.size(); ++i)
      out.emplace_back(numbers.begin() + static_cast<std::ptrdiff_t>(i * width),
                       numbers.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
    return out;
  }
  nereid_encoder* get() noexcept { return handle_.get(); }

 private:
  struct Close {
    void operator()(nereid_encoder* encoder) const { nereid_encoder_close(&encoder); }
  };
  explicit Encoder(nereid_encoder* handle) : handle_(handle) {}

  std::unique_ptr<nereid_encoder, Close> handle_;
};

}  // namespace v1
}  // namespace nereid

#endif  // NEREID_ENCODER_HPP
