// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve_grpc/infer_call.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include <vector>

#include "base/clock.h"
#include "server/protocol/kserve_grpc/grpc_messages.h"
#include "server/protocol/kserve_grpc/grpc_status.h"

namespace nereid::server::kserve {
namespace {

constexpr size_t kCopied = 8 << 10;  // shorter tensors are copied into the message: one piece to send

using Message = inference::ModelInferRequest;

// Its raw inputs go to the pool at its end.
std::shared_ptr<Message> pooled_message(std::shared_ptr<BytePool> pool) {
  return {new Message, [pool = std::move(pool)](Message* message) {
            for (std::string& raw : *message->mutable_raw_input_contents()) pool->give(std::move(raw));
            delete message;
          }};
}

// The raw inputs into memory of the pool, the rest as any message. False: the bytes are no message.
bool read_long(grpc::ByteBuffer bytes, BytePool& pool, Message* message) {
  using google::protobuf::internal::WireFormatLite;
  constexpr uint32_t kRaw = Message::kRawInputContentsFieldNumber << 3 | WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
  const size_t most = bytes.Length();
  grpc::ProtoBufferReader reader(&bytes);
  if (!reader.status().ok()) return false;
  google::protobuf::io::CodedInputStream in(&reader);
  std::string rest;
  std::vector<std::string> raws;
  {
    google::protobuf::io::StringOutputStream sink(&rest);
    google::protobuf::io::CodedOutputStream out(&sink);
    while (const uint32_t tag = in.ReadTag()) {
      if (tag != kRaw) {
        if (!WireFormatLite::SkipField(&in, tag, &out)) return false;
        continue;
      }
      uint32_t length = 0;
      if (!in.ReadVarint32(&length) || length > most) return false;
      std::string& raw = raws.emplace_back(pool.take(length));
      raw.resize(length);
      if (!in.ReadRaw(raw.data(), static_cast<int>(length))) return false;
    }
  }
  if (!in.ConsumedEntireMessage() || !message->ParseFromString(rest)) return false;
  for (std::string& raw : raws) message->add_raw_input_contents(std::move(raw));
  return true;
}

bool read_short(grpc::ByteBuffer bytes, Message* message) {
  grpc::ProtoBufferReader reader(&bytes);
  return reader.status().ok() && message->ParseFromZeroCopyStream(&reader);
}

Status read_message(const grpc::ByteBuffer& bytes, BytePool& pool, Message* message) {
  const bool is_read = bytes.Length() < BytePool::kLeast ? read_short(bytes, message) : read_long(bytes, pool, message);
  return is_read ? Status::ok() : internal("the request is no message ModelInferRequest");
}

// The key and the length of a field of bytes.
std::string field_head(int number, size_t length) {
  using google::protobuf::io::CodedOutputStream;
  constexpr uint32_t kLengthDelimited = 2;
  uint8_t head[20];
  uint8_t* end = CodedOutputStream::WriteVarint32ToArray((static_cast<uint32_t>(number) << 3) | kLengthDelimited, head);
  end = CodedOutputStream::WriteVarint64ToArray(length, end);
  return {reinterpret_cast<const char*>(head), static_cast<size_t>(end - head)};
}

grpc::Slice borrowed(RawTensor tensor) {
  auto* owner = new std::shared_ptr<const void>(std::move(tensor.owner));
  return {const_cast<std::byte*>(tensor.bytes.data()), tensor.bytes.size(),
          [](void* one) { delete static_cast<std::shared_ptr<const void>*>(one); }, owner};
}

// The message, and behind it the raw tensors, which are its last field.
void write_bytes(const inference::ModelInferResponse& message, std::vector<RawTensor> tensors, grpc::ByteBuffer* out) {
  std::vector<grpc::Slice> slices;
  std::string text = message.SerializeAsString();
  for (RawTensor& tensor : tensors) {
    text += field_head(inference::ModelInferResponse::kRawOutputContentsFieldNumber, tensor.bytes.size());
    if (tensor.bytes.size() < kCopied || tensor.owner == nullptr) {
      text.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
      continue;
    }
    slices.emplace_back(text);
    text.clear();
    slices.push_back(borrowed(std::move(tensor)));
  }
  if (!text.empty() || slices.empty()) slices.emplace_back(text);
  *out = grpc::ByteBuffer(slices.data(), slices.size());
}

class InferCall final : public grpc::ServerUnaryReactor {
 public:
  explicit InferCall(std::shared_ptr<RunningCount> calls) : calls_(std::move(calls)) {}

  void start(const GrpcOptions& options, const Metadata& metadata, const grpc::ByteBuffer& request,
             grpc::ByteBuffer* response) {
    is_counted_ = calls_->begin();
    const Status status = is_counted_ ? begin(options, metadata, request, response)
                                      : unavailable("the server is stopping and takes no more requests");
    if (!status.is_ok()) Finish(grpc_status(status));
  }
  void OnCancel() override { cancelled_->store(true, std::memory_order_relaxed); }
  void OnDone() override {
    if (trace_ != nullptr) trace_->mark(TraceMark::kGrpcSendEnd, now_ns());
    if (is_counted_) calls_->end();
    delete this;
  }

 private:
  Status begin(const GrpcOptions& options, const Metadata& metadata, const grpc::ByteBuffer& request,
               grpc::ByteBuffer* out) {
    const int64_t begin_ns = options.tracer == nullptr ? 0 : now_ns();
    NEREID_RETURN_IF_ERROR(check_access(options, metadata, ApiGroup::kInference));
    // What still runs when the call is over may read its inputs, so they keep the message.
    const auto message = pooled_message(options.pool);
    NEREID_RETURN_IF_ERROR(read_message(request, *options.pool, message.get()));
    NEREID_TRY(const int64_t version, read_version(message->model_version()));
    NEREID_TRY(const std::shared_ptr<InferModel> model, options.models->find(message->model_name(), version));
    GrpcAnswerShape shape;
    NEREID_TRY(InferRequest inference, read_request(message, *options.shared, &shape));
    inference.cancelled = cancelled_;
    NEREID_RETURN_IF_ERROR(CallMetadata(options, metadata).prepare(options, *model, begin_ns, &inference));
    trace_ = inference.trace;
    return model->infer(std::move(inference), [this, model, out, shared = options.shared,
                                               shape = std::move(shape)](InferResponse&& response) {
      const bool is_final = response.is_final;
      if (is_final && trace_ != nullptr) trace_->mark(TraceMark::kGrpcSendStart, now_ns());
      if (model->config().is_decoupled) {
        take_one_of_many(*model, shape, *shared, std::move(response), out);
      } else if (is_final) {
        Finish(grpc_status(answer(*model, shape, *shared, std::move(response), out)));
      }
    });
  }

  // A model that may answer any number of times has to answer once; responses come one after the other.
  void take_one_of_many(const InferModel& model, const GrpcAnswerShape& shape, const SharedMemory& shared,
                        InferResponse&& response, grpc::ByteBuffer* out) {
    const bool is_final = response.is_final;
    if (status_.is_ok() && !response.status.is_ok()) status_ = response.status;
    if (response.status.is_ok() && !response.is_empty && ++responses_ == 1) {
      const Status written = answer(model, shape, shared, std::move(response), out);
      if (status_.is_ok()) status_ = written;
    }
    if (!is_final) return;
    if (status_.is_ok() && responses_ != 1)
      status_ = unsupported("ModelInfer RPC doesn't support models with decoupled transaction policy");
    Finish(grpc_status(status_));
  }

  static Status answer(const InferModel& model, const GrpcAnswerShape& shape, const SharedMemory& shared,
                       InferResponse&& response, grpc::ByteBuffer* out) {
    if (!response.status.is_ok()) return response.status;
    inference::ModelInferResponse message;
    std::vector<RawTensor> tensors;
    NEREID_RETURN_IF_ERROR(write_response(model, shape, shared, std::move(response), &message, &tensors));
    write_bytes(message, std::move(tensors), out);
    return Status::ok();
  }

  const std::shared_ptr<RunningCount> calls_;
  const std::shared_ptr<std::atomic<bool>> cancelled_ = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<RequestTrace> trace_;
  bool is_counted_ = false;
  int64_t responses_ = 0;  // of a model that may answer more than once
  Status status_;
};

}  // namespace

grpc::ServerUnaryReactor* start_infer_call(const GrpcOptions& options, std::shared_ptr<RunningCount> calls,
                                           const Metadata& metadata, const grpc::ByteBuffer& request,
                                           grpc::ByteBuffer* response) {
  auto* call = new InferCall(std::move(calls));
  call->start(options, metadata, request, response);
  return call;
}

}  // namespace nereid::server::kserve
