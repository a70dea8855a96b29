// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "base/clock.h"
#include "server/protocol/kserve/endpoints/handlers.h"
#include "server/protocol/kserve/generate_body.h"
#include "server/protocol/kserve/json_writer.h"
#include "server/protocol/kserve/kserve_error.h"

namespace nereid::server::kserve {
namespace {

constexpr std::string_view kNotOne =
    "generate expects model to produce exactly 1 response, use generate stream for model that generates various number "
    "of responses";

std::string error_text(std::string_view message) {
  std::string text = "{\"error\":";
  append_text(&text, message);
  return text + "}";
}

// Takes the responses and gives them to the client; they come one after the other.
class Answer {
 public:
  virtual ~Answer() = default;
  virtual void take(InferResponse&& response) = 0;
};

class WholeAnswer final : public Answer {
 public:
  WholeAnswer(std::shared_ptr<InferModel> model, std::string id, std::shared_ptr<net::Responder> out)
      : model_(std::move(model)), id_(std::move(id)), out_(std::move(out)) {}
  void take(InferResponse&& response) override {
    if (!response.status.is_ok()) {
      status_ = status_.is_ok() ? response.status : status_;
    } else if (!response.is_empty && ++count_ == 1) {
      body_ = generate_answer(*model_, id_, response);
    }
    if (!response.is_final) return;
    // A model's own error is the client's fault here, and a wrong number of responses comes too late for a status: so
    // it always was.
    if (!status_.is_ok()) return out_->send(error_response(400, status_.message()));
    out_->send(net::json_response(200, count_ == 1 ? body_ : error_text(kNotOne)));
  }

 private:
  const std::shared_ptr<InferModel> model_;
  const std::string id_;
  const std::shared_ptr<net::Responder> out_;
  int count_ = 0;
  std::string body_;
  Status status_;
};

class StreamedAnswer final : public Answer {
 public:
  StreamedAnswer(std::shared_ptr<InferModel> model, std::string id, std::shared_ptr<net::Responder> out,
                 std::shared_ptr<std::atomic<bool>> cancelled)
      : model_(std::move(model)), id_(std::move(id)), out_(std::move(out)), cancelled_(std::move(cancelled)) {}
  void take(InferResponse&& response) override {
    if (!has_started_) {
      has_started_ = true;
      out_->start(response.status.is_ok() ? 200 : 400, {{"Content-Type", "text/event-stream; charset=utf-8"}});
    }
    std::string event;
    if (!response.status.is_ok()) {
      event = "data: " + error_text(response.status.message()) + "\n\n";
    } else if (!response.is_empty) {
      event = "data: " + generate_answer(*model_, id_, response) + "\n\n";
    }
    if (!event.empty() && !out_->write(event)) cancelled_->store(true, std::memory_order_relaxed);
    if (response.is_final) out_->close();
  }

 private:
  const std::shared_ptr<InferModel> model_;
  const std::string id_;
  const std::shared_ptr<net::Responder> out_;
  const std::shared_ptr<std::atomic<bool>> cancelled_;
  bool has_started_ = false;
};

void start(const ServicePtr& service, net::Request request, std::shared_ptr<net::Responder> out, bool streams) {
  auto found = find_model(*service, request);
  if (!found.is_ok()) return out->send(error_response(found.status()));
  const std::shared_ptr<InferModel> model = std::move(*found);
  Result<InferRequest> read = read_generate_body(request.body, model->config());
  if (!read.is_ok()) return out->send(error_response(read.status()));
  auto cancelled = std::make_shared<std::atomic<bool>>(false);
  read->cancelled = cancelled;
  if (const Status status = prepare(*service, request, *model, &*read); !status.is_ok())
    return out->send(error_response(status));
  out->on_closed([cancelled] { cancelled->store(true, std::memory_order_relaxed); });
  std::shared_ptr<Answer> answer;
  if (streams) {
    answer = std::make_shared<StreamedAnswer>(model, read->id, out, cancelled);
  } else {
    answer = std::make_shared<WholeAnswer>(model, read->id, out);
  }
  const std::shared_ptr<RequestTrace> trace = read->trace;
  const Status status = model->infer(std::move(*read), [answer, trace, has_begun = false](InferResponse&& r) mutable {
    const bool is_final = r.is_final;
    if (trace != nullptr && !std::exchange(has_begun, true)) trace->mark(TraceMark::kHttpSendStart, now_ns());
    answer->take(std::move(r));
    if (trace != nullptr && is_final) trace->mark(TraceMark::kHttpSendEnd, now_ns());
  });
  if (!status.is_ok()) out->send(error_response(status));
}

}  // namespace

void generate(const ServicePtr& service, net::Request request, std::shared_ptr<net::Responder> out) {
  start(service, std::move(request), std::move(out), false);
}

void generate_stream(const ServicePtr& service, net::Request request, std::shared_ptr<net::Responder> out) {
  start(service, std::move(request), std::move(out), true);
}

}  // namespace nereid::server::kserve
