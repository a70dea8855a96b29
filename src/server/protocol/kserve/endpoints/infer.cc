// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "server/protocol/kserve/endpoints/handlers.h"
#include "server/protocol/kserve/endpoints/infer_many.h"
#include "server/protocol/kserve/infer_answer.h"
#include "server/protocol/kserve/infer_body.h"
#include "server/protocol/kserve/kserve_error.h"

namespace nereid::server::kserve {

void infer(const ServicePtr& service, net::Request request, std::shared_ptr<net::Responder> out) {
  auto found = find_model(*service, request);
  if (!found.is_ok()) return out->send(error_response(found.status()));
  const std::shared_ptr<InferModel> model = std::move(*found);
  const ManyForm form = many_form(request);
  std::optional<std::string> json_bytes;
  if (request.headers.has("Inference-Header-Content-Length"))
    json_bytes = request.headers.get("Inference-Header-Content-Length");
  auto body = net::share_body(request);
  Result<InferBody> read = read_infer_body(std::move(body), json_bytes, model->config(), *service->shared);
  if (!read.is_ok()) return out->send(error_response(read.status()));

  AnswerShape shape{
      .id = read->request.id, .outputs = std::move(read->outputs), .binary_by_default = read->binary_by_default};
  auto cancelled = std::make_shared<std::atomic<bool>>(false);
  read->request.cancelled = cancelled;
  if (const Status status = prepare(*service, request, *model, &read->request); !status.is_ok())
    return out->send(error_response(status));
  out->on_closed([cancelled] { cancelled->store(true, std::memory_order_relaxed); });
  if (model->config().is_decoupled || form != ManyForm::kOne) {
    InferSink sink = many_sink({.model = model,
                                .shape = std::move(shape),
                                .shared = service->shared,
                                .out = out,
                                .cancelled = cancelled,
                                .form = form});
    if (const Status status = model->infer(std::move(read->request), std::move(sink)); !status.is_ok())
      out->send(error_response(status));
    return;
  }
  const Status status =
      model->infer(std::move(read->request), [model, shape = std::move(shape), shared = service->shared, out,
                                              trace = read->request.trace](InferResponse&& response) {
        if (!response.is_final) return;
        if (trace != nullptr) trace->mark(TraceMark::kHttpSendStart, now_ns());
        out->send(infer_response(*model, shape, *shared, std::move(response)));
        if (trace != nullptr) trace->mark(TraceMark::kHttpSendEnd, now_ns());
      });
  if (!status.is_ok()) out->send(error_response(status));
}

}  // namespace nereid::server::kserve
