// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve/endpoints/handlers.h"
#include "server/protocol/kserve/infer_answer.h"
#include "server/protocol/kserve/infer_body.h"
#include "server/protocol/kserve/kserve_error.h"

namespace nereid::server::kserve {

void infer(const ServicePtr& service, net::Request request, std::shared_ptr<net::Responder> out) {
  auto found = find_model(*service, request);
  if (!found.is_ok()) return out->send(error_response(found.status()));
  const std::shared_ptr<InferModel> model = std::move(*found);
  if (model->config().is_decoupled)
    return out->send(error_response(501, "HTTP end point doesn't support models with decoupled transaction policy"));
  std::optional<std::string> json_bytes;
  if (request.headers.has("Inference-Header-Content-Length"))
    json_bytes = request.headers.get("Inference-Header-Content-Length");
  const int64_t arrival_ns = request.received_ns;
  auto body = std::make_shared<const std::string>(std::move(request.body));
  Result<InferBody> read = read_infer_body(std::move(body), json_bytes, model->config(), *service->shared);
  if (!read.is_ok()) return out->send(error_response(read.status()));

  AnswerShape shape{
      .id = read->request.id, .outputs = std::move(read->outputs), .binary_by_default = read->binary_by_default};
  auto cancelled = std::make_shared<std::atomic<bool>>(false);
  read->request.cancelled = cancelled;
  read->request.arrival_ns = arrival_ns;
  out->on_closed([cancelled] { cancelled->store(true, std::memory_order_relaxed); });
  const Status status =
      model->infer(std::move(read->request),
                   [model, shape = std::move(shape), shared = service->shared, out](InferResponse&& response) {
                     if (response.is_final) out->send(infer_response(*model, shape, *shared, std::move(response)));
                   });
  if (!status.is_ok()) out->send(error_response(status));
}

}  // namespace nereid::server::kserve
