// SPDX-License-Identifier: Apache-2.0
// An inference whose model may answer any number of times, over HTTP: as events, as lines of JSON, or as the one
// response that there turns out to be.
#pragma once

#include <atomic>
#include <memory>

#include "server/core/shared_memory.h"
#include "server/net/http.h"
#include "server/protocol/kserve/infer_answer.h"

namespace nereid::server::kserve {

enum class ManyForm : uint8_t {
  kOne,     // a plain response; another number than one is an error
  kEvents,  // Accept: text/event-stream
  kLines,   // Accept: application/x-ndjson
};
ManyForm many_form(const net::Request& request);

struct ManyParts {
  std::shared_ptr<InferModel> model;
  AnswerShape shape;
  std::shared_ptr<SharedMemory> shared;
  std::shared_ptr<net::Responder> out;
  std::shared_ptr<std::atomic<bool>> cancelled;  // set when nobody reads any more
  ManyForm form = ManyForm::kOne;
};
// In events and lines a response is what a plain one would be, in JSON, with "triton_final_response" among its
// parameters; an error ends them with {"error":"..."}.
InferSink many_sink(ManyParts parts);

}  // namespace nereid::server::kserve
