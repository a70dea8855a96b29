// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve/endpoints/infer_many.h"

#include <fmt/format.h>

#include "server/protocol/kserve/kserve_error.h"

namespace nereid::server::kserve {
namespace {

// Responses come one after the other.
class One {
 public:
  explicit One(ManyParts parts) : parts_(std::move(parts)) {}
  void take(InferResponse&& response) {
    const bool is_final = response.is_final;
    if (!response.status.is_ok()) {
      if (status_.is_ok()) status_ = response.status;
    } else if (!response.is_empty && ++count_ == 1) {
      first_ = std::move(response);
    }
    if (!is_final) return;
    if (!status_.is_ok()) return parts_.out->send(error_response(status_));
    if (count_ == 1)
      return parts_.out->send(infer_response(*parts_.model, parts_.shape, *parts_.shared, std::move(first_)));
    parts_.out->send(error_response(unsupported(
        "HTTP end point doesn't support models with decoupled transaction policy that answer a request {} times; ask "
        "with the header 'Accept: text/event-stream' for each response as an event, or use generate_stream",
        count_)));
  }

 private:
  const ManyParts parts_;
  Status status_;
  InferResponse first_;
  int64_t count_ = 0;
};

class Stream {
 public:
  explicit Stream(ManyParts parts) : parts_(std::move(parts)) {
    // Bytes have no place in a line of text.
    parts_.shape.binary_by_default = false;
    for (WantedOutput& one : parts_.shape.outputs) one.is_binary = false;
  }
  void take(InferResponse&& response) {
    const bool is_final = response.is_final, is_empty = response.is_empty && response.status.is_ok();
    if (is_failed_) {
      if (is_final) parts_.out->close();
      return;
    }
    if (!has_started_ && !response.status.is_ok()) {
      // Nothing has gone out: the error has a status of its own.
      is_failed_ = true;
      if (!is_final) parts_.cancelled->store(true, std::memory_order_relaxed);
      return parts_.out->send(error_response(response.status));
    }
    if (!has_started_) start();
    if (!is_empty) {
      is_failed_ = !response.status.is_ok();
      if (!is_failed_) response.parameters.emplace_back("triton_final_response", is_final);
      const net::Response text = infer_response(*parts_.model, parts_.shape, *parts_.shared, std::move(response));
      write(text.body);
    }
    if (is_final || is_failed_) {
      if (!is_final) parts_.cancelled->store(true, std::memory_order_relaxed);
      parts_.out->close();
    }
  }

 private:
  void start() {
    has_started_ = true;
    const bool is_events = parts_.form == ManyForm::kEvents;
    parts_.out->start(200, {{"Content-Type", is_events ? "text/event-stream; charset=utf-8" : "application/x-ndjson"},
                            {"Cache-Control", "no-cache"},
                            {"X-Accel-Buffering", "no"}});  // proxies that would wait for more
  }
  void write(std::string_view json) {
    const bool is_events = parts_.form == ManyForm::kEvents;
    if (!parts_.out->write(fmt::format("{}{}\n{}", is_events ? "data: " : "", json, is_events ? "\n" : "")))
      parts_.cancelled->store(true, std::memory_order_relaxed);
  }

  ManyParts parts_;
  bool has_started_ = false, is_failed_ = false;
};

}  // namespace

ManyForm many_form(const net::Request& request) {
  const std::string_view accept = request.headers.get("Accept");
  if (accept.find("text/event-stream") != accept.npos) return ManyForm::kEvents;
  if (accept.find("application/x-ndjson") != accept.npos) return ManyForm::kLines;
  return ManyForm::kOne;
}

InferSink many_sink(ManyParts parts) {
  if (parts.form == ManyForm::kOne)
    return
        [one = std::make_shared<One>(std::move(parts))](InferResponse&& response) { one->take(std::move(response)); };
  return [stream = std::make_shared<Stream>(std::move(parts))](InferResponse&& response) {
    stream->take(std::move(response));
  };
}

}  // namespace nereid::server::kserve
