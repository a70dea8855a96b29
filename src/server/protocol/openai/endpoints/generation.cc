// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/endpoints/generation.h"

#include <utility>

#include "server/protocol/openai/endpoints/service.h"

namespace nereid::server::openai {
namespace {

ApiError cancelled_error() {
  return {503, "The server stopped before the answer was complete; send the request again.", "server_error", "",
          "unavailable"};
}

ApiError timeout_error() {
  // 422 is what no client sends again by itself, as it does 408, 429 and 5xx: it would take as long again.
  return {422, "The request took longer than its time limit.", "timeout", "", "timeout"};
}

}  // namespace

void Generation::run(GenerationOptions options, std::shared_ptr<net::Responder> responder) {
  const std::shared_ptr<Generation> self(new Generation(std::move(options), std::move(responder)));
  self->start();
}

Generation::Generation(GenerationOptions options, std::shared_ptr<net::Responder> responder)
    : options_(std::move(options)), responder_(std::move(responder)) {}

void Generation::start() {
  for (const TextRequest& request : options_.requests) {
    choices_left_ += static_cast<size_t>(request.choices);
    usage_.prompt_tokens += static_cast<int64_t>(request.prompt.size());
  }
  if (!options_.grammar_param.empty() && !options_.requests.empty())
    grammar_kind_ = sample::grammar_kind_name(options_.requests[0].params.grammar.kind);
  responder_->on_closed([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->cancel_all();
  });
  for (size_t i = 0; i < options_.requests.size(); ++i) {
    const Result<uint64_t> id = options_.model->generate(
        std::move(options_.requests[i]),
        [self = shared_from_this(), i](TextOutput&& output) { self->on_output(i, std::move(output)); });
    if (!id.is_ok()) {
      {
        const std::lock_guard lock(mutex_);
        fail(refusal(id.status()));
      }
      cancel_all();
      return;
    }
    bool is_late = false;
    {
      const std::lock_guard lock(ids_mutex_);
      is_late = is_cancelled_;
      ids_.push_back(*id);
    }
    if (is_late) {
      options_.model->cancel(*id);
      return;
    }
  }
}

ApiError Generation::refusal(const Status& status) const {
  std::string_view param = options_.param;
  // A refusal of a grammar names its kind.
  if (!grammar_kind_.empty() && status.message().find(grammar_kind_) != std::string::npos)
    param = options_.grammar_param;
  return api_error(status, param);
}

void Generation::on_output(size_t prompt, TextOutput&& output) {
  bool stop = false;
  {
    const std::lock_guard lock(mutex_);
    if (is_over_) return;
    const bool is_last = output.is_last;
    if (is_last && !output.status.is_ok()) {
      fail(refusal(output.status));
      stop = true;
    } else if (is_last && output.finish == TextFinish::kCancelled) {
      fail(cancelled_error());
      stop = true;
    } else if (is_last && output.finish == TextFinish::kTimeout) {
      fail(timeout_error());
      stop = true;
    } else {
      if (is_last) on_last(output);
      options_.text->add(prompt, std::move(output), &events_);
      if (choices_left_ == 0) {
        finish();
      } else if (!events_.empty()) {
        start_stream();
        stop = !responder_->write(events_);
        events_.clear();
        is_over_ = stop;
      }
    }
  }
  if (stop) cancel_all();
}

void Generation::on_last(const TextOutput& output) {
  --choices_left_;
  usage_.answer_tokens += output.answer_tokens;
  if (output.choice == 0) usage_.reused_tokens += output.reused_tokens;
}

void Generation::start_stream() {
  if (std::exchange(has_started_, true)) return;
  responder_->start(200, {{"Content-Type", "text/event-stream; charset=utf-8"},
                          {"Cache-Control", "no-cache"},
                          {"X-Accel-Buffering", "no"},  // proxies that would wait for more
                          {"X-Request-Id", options_.id}});
}

void Generation::finish() {
  is_over_ = true;
  options_.text->end(usage_, &events_);
  if (!options_.is_stream) {
    net::Response response = net::json_response(200, std::move(events_));
    response.headers.set("X-Request-Id", options_.id);
    responder_->send(std::move(response));
    return;
  }
  start_stream();
  responder_->write(events_);
  responder_->close();
}

void Generation::fail(const ApiError& error) {
  if (is_over_) return;
  is_over_ = true;
  if (!has_started_) {
    net::Response response = json_error(error);
    response.headers.set("X-Request-Id", options_.id);
    responder_->send(std::move(response));
    return;
  }
  responder_->write(error_event(error_body(error)));
  responder_->close();
}

void Generation::cancel_all() {
  std::vector<uint64_t> ids;
  {
    const std::lock_guard lock(ids_mutex_);
    is_cancelled_ = true;
    ids = ids_;
  }
  for (const uint64_t id : ids) options_.model->cancel(id);
}

}  // namespace nereid::server::openai
