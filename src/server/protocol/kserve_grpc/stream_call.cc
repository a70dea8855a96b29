// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve_grpc/stream_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "server/protocol/kserve_grpc/grpc_messages.h"
#include "server/protocol/kserve_grpc/raw_inputs.h"

namespace nereid::server::kserve {
namespace {

using net::grpc::rpc_status;
using net::grpc::RpcCode;
using net::grpc::RpcStatus;
using Pieces = std::vector<net::http2::BodyPiece>;
using StreamMessage = inference::ModelStreamInferResponse;

// What a client that does not read may leave waiting; beyond it the stream ends.
constexpr int64_t kMostWaitingBytes = int64_t{256} << 20;

// What of a request's responses waits for its turn.
struct Slot {
  std::deque<Pieces> ready;
  bool is_done = false;
  std::shared_ptr<std::atomic<bool>> cancelled = std::make_shared<std::atomic<bool>>(false);
};

int64_t cost(const Pieces& pieces) {
  int64_t bytes = 1024;  // in memory a message's parts are kept apart
  for (const auto& one : pieces) bytes += static_cast<int64_t>(one.size());
  return bytes;
}

// Held by the call while it lasts, and by the sinks of requests that still run.
class StreamCall final : public net::grpc::CallHandler, public std::enable_shared_from_this<StreamCall> {
 public:
  StreamCall(const GrpcOptions& options, std::shared_ptr<RunningCount> calls, const net::grpc::CallHead& head,
             std::shared_ptr<net::grpc::Call> call)
      : options_(options),
        metadata_(options, head.metadata),
        shared_(options.shared),
        calls_(std::move(calls)),
        call_(std::move(call)) {
    const std::string* const flag = net::grpc::find_metadata(head.metadata, "triton_grpc_error");
    errors_end_it_ = flag != nullptr && *flag == "true";
    if (const Status may = check_access(options, head.metadata, ApiGroup::kInference); !may.is_ok())
      finish(rpc_status(may));
  }

  void message(std::shared_ptr<const std::string> bytes) override {
    auto slot = std::make_shared<Slot>();
    {
      const std::lock_guard lock(mutex_);
      if (is_finished_) return;
      slots_.push_back(slot);
    }
    SplitRequest split;
    const Status status = split_request(*bytes, &split);
    if (!status.is_ok()) {
      const std::lock_guard lock(mutex_);
      return finish(rpc_status(status));
    }
    const std::string id = split.message.id();
    if (!calls_->begin()) return fail(slot, id, unavailable("the server is stopping and takes no more requests"));
    if (const Status begun = start(split, std::move(bytes), slot); !begun.is_ok()) {
      fail(slot, id, begun);
      calls_->end();
    }
  }

  void half_close() override {
    const std::lock_guard lock(mutex_);
    is_read_ = true;
    pump();
  }

  void cancel() override {
    const std::lock_guard lock(mutex_);
    is_finished_ = true;
    cancel_requests();
  }

 private:
  Status start(const SplitRequest& split, std::shared_ptr<const std::string> bytes, const std::shared_ptr<Slot>& slot) {
    NEREID_TRY(const int64_t version, read_version(split.message.model_version()));
    NEREID_TRY(const std::shared_ptr<InferModel> model, options_.models->find(split.message.model_name(), version));
    GrpcAnswerShape shape;
    NEREID_TRY(InferRequest request, read_request(split, std::move(bytes), *shared_, &shape));
    request.cancelled = slot->cancelled;
    NEREID_RETURN_IF_ERROR(metadata_.prepare(options_, *model, now_ns(), &request));
    const std::shared_ptr<RequestTrace> trace = request.trace;
    return model->infer(std::move(request), [self = shared_from_this(), slot, model, shape = std::move(shape),
                                             trace](InferResponse&& response) {
      const bool is_final = response.is_final;
      if (trace != nullptr && is_final) trace->mark(TraceMark::kGrpcSendStart, now_ns());
      self->answer(slot, *model, shape, std::move(response));
      if (trace != nullptr && is_final) trace->mark(TraceMark::kGrpcSendEnd, now_ns());
      if (is_final) self->calls_->end();
    });
  }

  // What a model itself has answered says which it is and whether that is the last.
  void fail(const std::shared_ptr<Slot>& slot, const std::string& id, const Status& status,
            const InferModel* model = nullptr, bool is_final = true) {
    StreamMessage message;
    message.set_error_message(std::string(status.message()));
    message.mutable_infer_response()->set_id(id);
    if (model != nullptr) {
      message.mutable_infer_response()->set_model_name(model->config().name);
      (*message.mutable_infer_response()->mutable_parameters())["triton_final_response"].set_bool_param(is_final);
    }
    const std::lock_guard lock(mutex_);
    if (errors_end_it_) return finish(rpc_status(status));
    slot->ready.push_back({{.text = message.SerializeAsString()}});
    slot->is_done = true;
    pump();
  }

  void answer(const std::shared_ptr<Slot>& slot, const InferModel& model, const GrpcAnswerShape& shape,
              InferResponse&& response) {
    if (!response.status.is_ok()) return fail(slot, shape.id, response.status, &model, response.is_final);
    const bool is_final = response.is_final, is_decoupled = model.config().is_decoupled;
    const bool is_sent = !response.is_empty || (is_final && is_decoupled && shape.wants_empty_final);
    Pieces pieces;
    if (is_sent) {
      inference::ModelInferResponse message;
      std::vector<RawTensor> tensors;
      const bool is_empty = response.is_empty;
      const Status status = write_response(model, shape, *shared_, std::move(response), &message, &tensors);
      if (!status.is_ok()) return fail(slot, shape.id, status);
      if (is_empty) message.clear_model_version();
      (*message.mutable_parameters())["triton_final_response"].set_bool_param(is_final);
      pieces = write_stream_pieces(message, std::move(tensors));
    }
    const std::lock_guard lock(mutex_);
    if (is_sent && !is_finished_) {
      if (is_decoupled) {
        put(std::move(pieces));
      } else {
        slot->ready.push_back(std::move(pieces));
      }
    }
    slot->is_done |= is_final;
    pump();
  }

  // ---- the mutex is held
  void put(Pieces&& pieces) {
    if (is_finished_) return;
    const int64_t waiting = call_->waiting_bytes() + cost(pieces);
    call_->write(std::move(pieces));
    if (waiting <= kMostWaitingBytes) return;
    is_finished_ = true;
    call_->abort(
        {RpcCode::kResourceExhausted,
         fmt::format("{} bytes of answers wait for a client that does not read them, more than the {} there is "
                     "room for: read the stream as it comes, or ask for less at a time",
                     waiting, kMostWaitingBytes)});
    cancel_requests();
  }

  void finish(const RpcStatus& status) {
    if (std::exchange(is_finished_, true)) return;
    call_->finish(status);
    cancel_requests();
  }

  void cancel_requests() {
    for (const auto& slot : slots_) slot->cancelled->store(true, std::memory_order_relaxed);
  }

  // What can be written now is written.
  void pump() {
    while (!slots_.empty()) {
      Slot& first = *slots_.front();
      for (Pieces& pieces : first.ready) put(std::move(pieces));
      first.ready.clear();
      if (!first.is_done) {
        pass_over();
        break;
      }
      slots_.pop_front();
    }
    if (is_read_ && slots_.empty()) finish({});
  }

  // Those behind the first that are done and have nothing to say need not wait for it.
  void pass_over() {
    std::erase_if(slots_, [](const auto& slot) { return slot->is_done && slot->ready.empty(); });
  }

  std::mutex mutex_;
  const GrpcOptions& options_;
  const CallMetadata metadata_;
  const std::shared_ptr<SharedMemory> shared_;
  const std::shared_ptr<RunningCount> calls_;
  const std::shared_ptr<net::grpc::Call> call_;
  bool errors_end_it_ = false;
  std::deque<std::shared_ptr<Slot>> slots_;  // in the order of the requests
  bool is_read_ = false, is_finished_ = false;
};

}  // namespace

std::shared_ptr<net::grpc::CallHandler> make_stream_call(const GrpcOptions& options,
                                                         std::shared_ptr<RunningCount> calls,
                                                         net::grpc::CallHead&& head,
                                                         std::shared_ptr<net::grpc::Call> call) {
  return std::make_shared<StreamCall>(options, std::move(calls), head, std::move(call));
}

}  // namespace nereid::server::kserve
