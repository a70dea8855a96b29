// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve_grpc/stream_reactor.h"

#include <fmt/core.h>

#include <deque>
#include <mutex>

#include "base/clock.h"
#include "server/protocol/kserve_grpc/grpc_messages.h"
#include "server/protocol/kserve_grpc/grpc_status.h"

namespace nereid::server::kserve {
namespace {

using Message = inference::ModelStreamInferResponse;

// What a client that does not read may leave waiting; beyond it the stream ends.
constexpr int64_t kMostWaitingBytes = int64_t{256} << 20;

// In memory, about: a message's parts are kept apart.
int64_t cost(const Message& message) {
  return static_cast<int64_t>(message.ByteSizeLong()) + 1024;
}

// What of a request's responses waits for its turn.
struct Slot {
  std::deque<Message> ready;
  bool is_done = false;
  std::shared_ptr<std::atomic<bool>> cancelled;
};

// Shared by the reactor, which gRPC ends when it likes, and the sinks of requests that still run.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(StreamReactor* reactor, const GrpcOptions& options, std::shared_ptr<RunningCount> calls,
         const Metadata& metadata, bool errors_end_it)
      : reactor_(reactor),
        options_(options),
        metadata_(options, metadata),
        may_(check_access(options, metadata, ApiGroup::kInference)),
        shared_(options.shared),
        calls_(std::move(calls)),
        errors_end_it_(errors_end_it) {
    if (!may_.is_ok()) is_final_ = grpc_status(may_), is_broken_ = true;
  }

  // Ends it at once where the client may not use it.
  void begin() {
    const std::lock_guard lock(mutex_);
    if (!may_.is_ok()) pump();
  }

  void take(std::shared_ptr<inference::ModelInferRequest> message) {
    if (!may_.is_ok()) return;
    auto slot = std::make_shared<Slot>();
    slot->cancelled = std::make_shared<std::atomic<bool>>(false);
    {
      const std::lock_guard lock(mutex_);
      slots_.push_back(slot);
    }
    if (!calls_->begin())
      return fail(slot, message->id(), unavailable("the server is stopping and takes no more requests"));
    if (const Status status = start(message, slot); !status.is_ok()) {
      fail(slot, message->id(), status);
      calls_->end();
    }
  }

  // The client sends nothing more.
  void end_of_requests() {
    const std::lock_guard lock(mutex_);
    is_read_ = true;
    pump();
  }

  void written(bool ok) {
    const std::lock_guard lock(mutex_);
    is_writing_ = false;
    if (!out_.empty()) {
      waiting_bytes_ -= cost(out_.front());
      out_.pop_front();
    }
    if (!ok) out_.clear(), is_broken_ = true;
    pump();
  }

  void cancel() {
    const std::lock_guard lock(mutex_);
    is_broken_ = true;
    for (const auto& slot : slots_) slot->cancelled->store(true, std::memory_order_relaxed);
    pump();
  }

  void gone() {
    const std::lock_guard lock(mutex_);
    reactor_ = nullptr;
  }

 private:
  Status start(const std::shared_ptr<inference::ModelInferRequest>& message, const std::shared_ptr<Slot>& slot) {
    NEREID_TRY(const int64_t version, read_version(message->model_version()));
    NEREID_TRY(const std::shared_ptr<InferModel> model, options_.models->find(message->model_name(), version));
    GrpcAnswerShape shape;
    NEREID_TRY(InferRequest request, read_request(message, *shared_, &shape));
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
    const std::lock_guard lock(mutex_);
    if (errors_end_it_ && is_final_.ok()) is_final_ = grpc_status(status), is_broken_ = true;
    Message message;
    message.set_error_message(status.message());
    message.mutable_infer_response()->set_id(id);
    if (model != nullptr) {
      message.mutable_infer_response()->set_model_name(model->config().name);
      (*message.mutable_infer_response()->mutable_parameters())["triton_final_response"].set_bool_param(is_final);
    }
    slot->ready.push_back(std::move(message));
    slot->is_done = true;
    pump();
  }

  void answer(const std::shared_ptr<Slot>& slot, const InferModel& model, const GrpcAnswerShape& shape,
              InferResponse&& response) {
    if (!response.status.is_ok()) return fail(slot, shape.id, response.status, &model, response.is_final);
    const bool is_final = response.is_final, is_decoupled = model.config().is_decoupled;
    Message message;
    bool is_sent = true;
    if (response.is_empty) {
      is_sent = is_final && is_decoupled && shape.wants_empty_final;
    }
    if (is_sent) {
      const bool is_empty = response.is_empty;
      const Status status =
          write_response(model, shape, *shared_, std::move(response), message.mutable_infer_response());
      if (!status.is_ok()) return fail(slot, shape.id, status);
      if (is_empty) message.mutable_infer_response()->clear_model_version();
      (*message.mutable_infer_response()->mutable_parameters())["triton_final_response"].set_bool_param(is_final);
    }
    const std::lock_guard lock(mutex_);
    if (is_sent && !is_broken_) is_decoupled ? put(std::move(message)) : slot->ready.push_back(std::move(message));
    slot->is_done |= is_final;
    pump();
  }

  // The mutex is held. The message that is being written stays in any case.
  void put(Message&& message) {
    waiting_bytes_ += cost(message);
    out_.push_back(std::move(message));
    if (waiting_bytes_ <= kMostWaitingBytes || is_broken_) return;
    is_final_ = {grpc::StatusCode::RESOURCE_EXHAUSTED,
                 fmt::format("{} bytes of answers wait for a client that does not read them, more than the {} there is "
                             "room for: read the stream as it comes, or ask for less at a time",
                             waiting_bytes_, kMostWaitingBytes)};
    is_broken_ = true;
    for (const auto& slot : slots_) slot->cancelled->store(true, std::memory_order_relaxed);
    out_.erase(out_.begin() + (is_writing_ ? 1 : 0), out_.end());
  }

  // What can be written now is written; the mutex is held.
  void pump() {
    while (!slots_.empty()) {
      Slot& first = *slots_.front();
      for (Message& message : first.ready) put(std::move(message));
      first.ready.clear();
      if (!first.is_done) {
        pass_over();
        break;
      }
      slots_.pop_front();
    }
    if (reactor_ == nullptr || is_writing_ || is_finished_) return;
    if (is_broken_) {
      is_finished_ = true;
      reactor_->Finish(is_final_);
    } else if (!out_.empty()) {
      is_writing_ = true;
      reactor_->StartWrite(&out_.front());
    } else if (is_read_ && slots_.empty()) {
      is_finished_ = true;
      reactor_->Finish(is_final_);
    }
  }

  // Those behind the first that are done and have nothing to say need not wait for it.
  void pass_over() {
    std::erase_if(slots_, [](const auto& slot) { return slot->is_done && slot->ready.empty(); });
  }

  std::mutex mutex_;
  StreamReactor* reactor_;
  const GrpcOptions& options_;
  const CallMetadata metadata_;
  const Status may_;
  const std::shared_ptr<SharedMemory> shared_;
  const std::shared_ptr<RunningCount> calls_;
  const bool errors_end_it_;
  std::deque<std::shared_ptr<Slot>> slots_;  // in the order of the requests
  std::deque<Message> out_;                  // the first is being written while is_writing_
  int64_t waiting_bytes_ = 0;                // of out_
  grpc::Status is_final_;
  bool is_read_ = false, is_writing_ = false, is_broken_ = false, is_finished_ = false;
};

class Reactor final : public StreamReactor {
 public:
  Reactor(const GrpcOptions& options, std::shared_ptr<RunningCount> calls, const Metadata& metadata, bool errors_end_it)
      : stream_(std::make_shared<Stream>(this, options, std::move(calls), metadata, errors_end_it)) {
    stream_->begin();
    read_next();
  }
  void OnReadDone(bool ok) override {
    if (!ok) return stream_->end_of_requests();
    stream_->take(std::move(request_));
    read_next();
  }
  void OnWriteDone(bool ok) override { stream_->written(ok); }
  void OnCancel() override { stream_->cancel(); }
  void OnDone() override {
    stream_->gone();
    delete this;
  }

 private:
  void read_next() {
    request_ = std::make_shared<inference::ModelInferRequest>();
    StartRead(request_.get());
  }
  const std::shared_ptr<Stream> stream_;
  std::shared_ptr<inference::ModelInferRequest> request_;
};

}  // namespace

StreamReactor* make_stream_reactor(const GrpcOptions& options, std::shared_ptr<RunningCount> calls,
                                   const Metadata& metadata, bool errors_end_the_stream) {
  return new Reactor(options, std::move(calls), metadata, errors_end_the_stream);
}

}  // namespace nereid::server::kserve
