// SPDX-License-Identifier: Apache-2.0
// nereid_encoder_*: a model of vectors or scores behind its queue.
#include "nereid/encoder.h"

#include <algorithm>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "api/answer.h"
#include "api/options.h"
#include "llm/run/encode_queue.h"
#include "llm/run/open_encoder.h"

namespace nereid::api {

struct OpenEncoder {
  llm::OpenedEncoder opened;
  std::unique_ptr<llm::EncodeQueue> queue;  // goes first
};

}  // namespace nereid::api

struct nereid_encoder {
  nereid::api::OpenEncoder open;
};

namespace nereid::api {
namespace {

Status open(const char* path, const nereid_encoder_options* given, nereid_encoder** out) {
  if (out == nullptr) return invalid_argument("the place for the encoder's handle is NULL");
  *out = nullptr;
  if (path == nullptr) return invalid_argument("the path of the model is NULL");
  NEREID_TRY(const nereid_encoder_options o, read_options(given));
  NEREID_RETURN_IF_ERROR(check_device(o.device));
  NEREID_TRY(const int threads, read_threads(o.threads));
  if (o.max_tokens < 0) return invalid_argument("max_tokens is {}; it is 0 (the default) or more", o.max_tokens);
  const auto progress = [&](int64_t done, int64_t total) {
    if (o.progress != nullptr) (void)o.progress(o.progress_user, "packing the weights", done, total);
  };
  auto encoder = std::make_unique<nereid_encoder>();
  OpenEncoder& e = encoder->open;
  NEREID_TRY(e.opened, llm::open_encoder(path, {.threads = threads, .context = o.max_tokens}, {}, progress));
  if (o.log != nullptr)
    for (const std::string& warning : e.opened.warnings) o.log(o.log_user, NEREID_LOG_WARNING, warning.c_str());
  e.queue = llm::EncodeQueue::start(*e.opened.encoder);
  *out = encoder.release();
  return Status::ok();
}

Status check_handle(const nereid_encoder* handle) {
  if (handle == nullptr) return invalid_argument("the encoder's handle is NULL: it was not opened, or is closed");
  return Status::ok();
}

Status describe(const nereid_encoder* handle, nereid_encoder_info* info) {
  NEREID_RETURN_IF_ERROR(check_handle(handle));
  const llm::Encoder& encoder = *handle->open.opened.encoder;
  nereid_encoder_info out{};
  out.width = encoder.width();
  out.labels = encoder.labels();
  out.max_tokens = encoder.max_tokens();
  out.vocabulary = encoder.vocab();
  return write_result(out, info, "the encoder's description");
}

Result<std::vector<llm::EncodeInput>> read_texts(const nereid_encoder_text* texts, size_t count) {
  if (count == 0) return invalid_argument("there are no texts");
  if (texts == nullptr) return invalid_argument("there are {} texts, but the place they are in is NULL", count);
  const size_t stride = texts->struct_size;  // as the caller's header has it
  std::vector<llm::EncodeInput> out;
  for (size_t i = 0; i < count; ++i) {
    const auto* place =
        reinterpret_cast<const nereid_encoder_text*>(reinterpret_cast<const std::byte*>(texts) + i * stride);
    if (place->struct_size != stride)
      return invalid_argument("the struct_size of text {} is {}, that of the first {}", i, place->struct_size, stride);
    NEREID_TRY(const nereid_encoder_text t, read_options(place));
    if ((t.text == nullptr) == (t.tokens == nullptr))
      return invalid_argument("text {} has {}; it has one of the two", i,
                              t.text == nullptr ? "neither a text nor tokens" : "both a text and tokens");
    if (t.second != nullptr && t.text == nullptr)
      return invalid_argument("text {} has a second text, but its first one is tokens", i);
    llm::EncodeInput input;
    if (t.text != nullptr) input.text = t.text;
    if (t.second != nullptr) input.second = t.second;
    if (t.tokens != nullptr) input.tokens.assign(t.tokens, t.tokens + t.token_count);
    if (t.text == nullptr && input.tokens.empty()) return invalid_argument("text {} has no tokens", i);
    input.truncates = t.truncates != 0;
    out.push_back(std::move(input));
  }
  return out;
}

Status encode(nereid_encoder* handle, const nereid_encoder_text* texts, size_t count, float* numbers, size_t capacity,
              int64_t* token_counts) {
  NEREID_RETURN_IF_ERROR(check_handle(handle));
  const auto width = static_cast<size_t>(handle->open.opened.encoder->width());
  NEREID_TRY(std::vector<llm::EncodeInput> inputs, read_texts(texts, count));
  if (numbers == nullptr) return invalid_argument("the place for the numbers is NULL");
  if (capacity / width < count)
    return invalid_argument("{} texts give {} numbers each; there is room for {}", count, width, capacity);
  // Shared with the queue's thread, which may still be within set_value() when the output is here.
  const auto told = std::make_shared<std::promise<llm::EncodeOutput>>();
  NEREID_RETURN_IF_ERROR(
      handle->open.queue
          ->submit(std::move(inputs), [told](llm::EncodeOutput&& output) { told->set_value(std::move(output)); })
          .status());
  const llm::EncodeOutput output = told->get_future().get();
  NEREID_RETURN_IF_ERROR(output.status);
  for (size_t i = 0; i < count; ++i) std::ranges::copy(output.vectors[i], numbers + i * width);
  if (token_counts != nullptr) std::ranges::copy(output.tokens, token_counts);
  return Status::ok();
}

}  // namespace
}  // namespace nereid::api

using nereid::Status;
using nereid::api::answer;

extern "C" {

nereid_status nereid_encoder_open(const char* path, const nereid_encoder_options* options, nereid_encoder** encoder) {
  return answer([&] { return nereid::api::open(path, options, encoder); });
}

nereid_status nereid_encoder_close(nereid_encoder** encoder) {
  return answer([&]() -> Status {
    if (encoder != nullptr) delete std::exchange(*encoder, nullptr);
    return Status::ok();
  });
}

nereid_status nereid_encoder_describe(const nereid_encoder* encoder, nereid_encoder_info* info) {
  return answer([&] { return nereid::api::describe(encoder, info); });
}

nereid_status nereid_encoder_encode(nereid_encoder* encoder, const nereid_encoder_text* texts, size_t count,
                                    float* numbers, size_t capacity, int64_t* token_counts) {
  return answer([&] { return nereid::api::encode(encoder, texts, count, numbers, capacity, token_counts); });
}

}  // extern "C"
