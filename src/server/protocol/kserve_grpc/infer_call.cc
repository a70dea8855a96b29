// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve_grpc/infer_call.h"

#include <atomic>
#include <utility>

#include "base/clock.h"
#include "server/protocol/kserve_grpc/grpc_messages.h"
#include "server/protocol/kserve_grpc/raw_inputs.h"

namespace nereid::server::kserve {
namespace {

using net::grpc::rpc_status;

constexpr size_t kLoopBytes = 8 << 20;  // longer requests would keep the connections of the thread waiting

class InferCall final : public net::grpc::CallHandler, public std::enable_shared_from_this<InferCall> {
 public:
  InferCall(const GrpcOptions& options, const RunElsewhere& elsewhere, std::shared_ptr<RunningCount> calls,
            net::grpc::CallHead&& head, std::shared_ptr<net::grpc::Call> call)
      : options_(options),
        elsewhere_(elsewhere),
        calls_(std::move(calls)),
        head_(std::move(head)),
        call_(std::move(call)) {
    is_counted_ = calls_->begin();
  }
  // The answer has gone, or nobody waits for it.
  ~InferCall() override {
    if (trace_ != nullptr) trace_->mark(TraceMark::kGrpcSendEnd, now_ns());
    if (is_counted_) calls_->end();
  }

  void message(std::shared_ptr<const std::string> bytes) override {
    if (std::exchange(is_begun_, true)) return;
    if (bytes->size() <= kLoopBytes) return answer(std::move(bytes));
    elsewhere_([self = shared_from_this(), bytes = std::move(bytes)] { self->answer(bytes); });
  }
  void half_close() override {
    if (!is_begun_) call_->finish({net::grpc::RpcCode::kInternal, "the call ended without a request"});
  }
  void cancel() override { cancelled_->store(true, std::memory_order_relaxed); }

 private:
  void answer(std::shared_ptr<const std::string> bytes) {
    const Status status =
        is_counted_ ? begin(std::move(bytes)) : unavailable("the server is stopping and takes no more requests");
    if (!status.is_ok()) call_->finish(rpc_status(status));
  }

  Status begin(std::shared_ptr<const std::string> bytes) {
    NEREID_RETURN_IF_ERROR(check_access(options_, head_.metadata, ApiGroup::kInference));
    SplitRequest split;
    NEREID_RETURN_IF_ERROR(split_request(*bytes, &split));
    NEREID_TRY(const int64_t version, read_version(split.message.model_version()));
    NEREID_TRY(const std::shared_ptr<InferModel> model, options_.models->find(split.message.model_name(), version));
    GrpcAnswerShape shape;
    // What still runs when the call is over may read its inputs, so they keep the bytes.
    NEREID_TRY(InferRequest inference, read_request(split, std::move(bytes), *options_.shared, &shape));
    inference.cancelled = cancelled_;
    NEREID_RETURN_IF_ERROR(
        CallMetadata(options_, head_.metadata).prepare(options_, *model, head_.begin_ns, &inference));
    trace_ = inference.trace;
    return model->infer(std::move(inference), [self = shared_from_this(), model, shared = options_.shared,
                                               shape = std::move(shape)](InferResponse&& response) {
      const bool is_final = response.is_final;
      if (is_final && self->trace_ != nullptr) self->trace_->mark(TraceMark::kGrpcSendStart, now_ns());
      if (model->config().is_decoupled) {
        self->take_one_of_many(*model, shape, *shared, std::move(response));
      } else if (is_final) {
        self->finish(self->write(*model, shape, *shared, std::move(response)));
      }
    });
  }

  // A model that may answer any number of times has to answer once; responses come one after the other.
  void take_one_of_many(const InferModel& model, const GrpcAnswerShape& shape, const SharedMemory& shared,
                        InferResponse&& response) {
    const bool is_final = response.is_final;
    if (status_.is_ok() && !response.status.is_ok()) status_ = response.status;
    if (response.status.is_ok() && !response.is_empty && ++responses_ == 1) {
      const Status written = write(model, shape, shared, std::move(response));
      if (status_.is_ok()) status_ = written;
    }
    if (!is_final) return;
    if (status_.is_ok() && responses_ != 1)
      status_ = unsupported("ModelInfer RPC doesn't support models with decoupled transaction policy");
    finish(status_);
  }

  Status write(const InferModel& model, const GrpcAnswerShape& shape, const SharedMemory& shared,
               InferResponse&& response) {
    if (!response.status.is_ok()) return response.status;
    inference::ModelInferResponse message;
    std::vector<RawTensor> tensors;
    NEREID_RETURN_IF_ERROR(write_response(model, shape, shared, std::move(response), &message, &tensors));
    answer_ = write_pieces(message, std::move(tensors));
    return Status::ok();
  }

  void finish(const Status& status) {
    status.is_ok() ? call_->write_last(std::move(answer_)) : call_->finish(rpc_status(status));
  }

  const GrpcOptions& options_;
  const RunElsewhere& elsewhere_;
  const std::shared_ptr<RunningCount> calls_;
  const net::grpc::CallHead head_;
  const std::shared_ptr<net::grpc::Call> call_;
  const std::shared_ptr<std::atomic<bool>> cancelled_ = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<RequestTrace> trace_;
  std::vector<net::http2::BodyPiece> answer_;
  bool is_counted_ = false, is_begun_ = false;
  int64_t responses_ = 0;  // of a model that may answer more than once
  Status status_;
};

}  // namespace

std::shared_ptr<net::grpc::CallHandler> make_infer_call(const GrpcOptions& options, const RunElsewhere& elsewhere,
                                                        std::shared_ptr<RunningCount> calls, net::grpc::CallHead&& head,
                                                        std::shared_ptr<net::grpc::Call> call) {
  return std::make_shared<InferCall>(options, elsewhere, std::move(calls), std::move(head), std::move(call));
}

}  // namespace nereid::server::kserve
