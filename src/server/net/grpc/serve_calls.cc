// SPDX-License-Identifier: Apache-2.0
// Calls over streams: messages out of bodies, answers and status into heads, bodies and trailers.
#include <algorithm>
#include <atomic>
#include <utility>

#include "server/net/grpc/call.h"
#include "server/net/grpc/call_fields.h"
#include "server/net/grpc/message_reader.h"

namespace nereid::server::net::grpc {
namespace {

using http2::Answer;
using http2::BodyPiece;

// Both are taken: which of them, by level, is as gRPC's own library has it.
std::optional<Coding> answer_coding(const CallTerms& terms, int level) {
  if (level <= 0 || (!terms.takes_gzip && !terms.takes_deflate)) return std::nullopt;
  const bool is_gzip = terms.takes_gzip && (level == 1 || !terms.takes_deflate);
  return is_gzip ? Coding::kGzip : Coding::kDeflate;
}

class StreamCall final : public Call {
 public:
  StreamCall(std::shared_ptr<http2::StreamWriter> writer, std::optional<Coding> coding)
      : writer_(std::move(writer)), coding_(coding) {}

  void write(std::vector<BodyPiece> message) override {
    Answer answer;
    add(std::move(message), &answer);
    writer_->send(std::move(answer));
  }
  void write_last(std::vector<BodyPiece> message) override {
    Answer answer;
    add(std::move(message), &answer);
    answer.trailers = ok_trailers();
    writer_->send(std::move(answer));
  }
  void finish(const RpcStatus& status) override { writer_->send(end(status)); }
  void abort(const RpcStatus& status) override {
    Answer answer = end(status);
    answer.drops_waiting = true;
    writer_->send(std::move(answer));
  }
  int64_t waiting_bytes() const override { return waiting_.load(std::memory_order_relaxed); }

  void moved(int64_t bytes) { waiting_.fetch_sub(bytes, std::memory_order_relaxed); }
  void set_deadline(int64_t at_ns) { writer_->set_deadline(at_ns); }

 private:
  void add(std::vector<BodyPiece> message, Answer* answer) {
    if (!has_head_.exchange(true)) answer->head = answer_head(coding_);
    size_t bytes = 0;
    for (const BodyPiece& one : message) bytes += one.size();
    bool is_packed = false;
    if (coding_ && bytes > 0) is_packed = pack_pieces(&message, &bytes);
    if (message.empty()) message.emplace_back();
    std::string prefix(1, is_packed ? '\1' : '\0');
    http2::append_number(&prefix, bytes, 4);
    message.front().text.insert(0, prefix);
    waiting_.fetch_add(static_cast<int64_t>(bytes + prefix.size()), std::memory_order_relaxed);
    answer->body = std::move(message);
  }

  // What does not get smaller stays as it is.
  bool pack_pieces(std::vector<BodyPiece>* message, size_t* bytes) const {
    std::string whole;
    whole.reserve(*bytes);
    for (const BodyPiece& one : *message) whole.append(one.text).append(one.bytes);
    std::string packed = pack(*coding_, whole);
    if (packed.empty() || packed.size() >= *bytes) return false;
    *bytes = packed.size();
    message->clear();
    message->push_back({.text = std::move(packed)});
    return true;
  }

  Answer end(const RpcStatus& status) {
    Answer answer;
    if (has_head_.exchange(true)) {
      answer.trailers = trailers_of(status);
    } else {
      answer.head = trailers_only(status);
      answer.is_end = true;
    }
    return answer;
  }

  const std::shared_ptr<http2::StreamWriter> writer_;
  const std::optional<Coding> coding_;
  std::atomic<bool> has_head_{false};
  std::atomic<int64_t> waiting_{0};
};

// A request that is no call, or one that cannot be read: nobody wants its body.
class NoReader final : public http2::StreamReader {
 public:
  std::span<char> room() override { return {}; }
  void came(size_t) override {}
  void end() override {}
  void broken(http2::ErrorCode) override {}
  void sent(int64_t) override {}
  void late() override {}
};

struct Shared {
  GrpcTerms terms;
  Service service;
  std::atomic<int64_t> body_bytes{0};
};

class CallReader final : public http2::StreamReader {
 public:
  CallReader(std::shared_ptr<Shared> shared, std::shared_ptr<StreamCall> call, std::shared_ptr<CallHandler> handler,
             std::optional<Coding> coding)
      : shared_(std::move(shared)),
        call_(std::move(call)),
        handler_(std::move(handler)),
        messages_(shared_->terms.pool, shared_->terms.max_message_bytes, coding) {}
  ~CallReader() override { count(0); }

  std::span<char> room() override { return is_over_ ? std::span<char>() : messages_.room(); }
  void came(size_t bytes) override {
    RpcStatus status;
    std::shared_ptr<const std::string> message = messages_.came(bytes, &status);
    count(messages_.held_bytes());
    if (status.is_ok() && shared_->body_bytes.load(std::memory_order_relaxed) > shared_->terms.max_body_bytes)
      status = {RpcCode::kResourceExhausted, "the server holds all the messages that it can"};
    if (!status.is_ok()) return fail(status);
    if (message != nullptr) handler_->message(std::move(message));
  }
  void end() override {
    if (is_over_) return;
    if (!messages_.is_between()) return fail({RpcCode::kInternal, "the call ended in the middle of a message"});
    handler_->half_close();
  }
  void broken(http2::ErrorCode) override {
    if (!std::exchange(is_over_, true)) handler_->cancel();
  }
  void sent(int64_t bytes) override { call_->moved(bytes); }
  void late() override { fail({RpcCode::kDeadlineExceeded, "Deadline Exceeded"}); }

 private:
  void fail(const RpcStatus& status) {
    if (std::exchange(is_over_, true)) return;
    call_->abort(status);
    handler_->cancel();
  }
  void count(int64_t bytes) {
    if (bytes != counted_)
      shared_->body_bytes.fetch_add(bytes - std::exchange(counted_, bytes), std::memory_order_relaxed);
  }

  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<StreamCall> call_;
  const std::shared_ptr<CallHandler> handler_;
  MessageReader messages_;
  int64_t counted_ = 0;
  bool is_over_ = false;
};

}  // namespace

std::function<std::shared_ptr<http2::StreamReader>(http2::RequestHead&&, std::shared_ptr<http2::StreamWriter>)>
serve_calls(GrpcTerms grpc_terms, Service service) {
  auto shared = std::make_shared<Shared>();
  shared->terms = std::move(grpc_terms);
  shared->service = std::move(service);
  return [shared](http2::RequestHead&& request,
                  std::shared_ptr<http2::StreamWriter> writer) -> std::shared_ptr<http2::StreamReader> {
    if (const std::optional<int> status = refusal(request)) {
      Answer answer;
      answer.head = std::make_shared<const http2::HeaderFields>(
          http2::HeaderFields{{.name = ":status", .value = std::to_string(*status)}});
      answer.is_end = true;
      writer->send(std::move(answer));
      return std::make_shared<NoReader>();
    }
    CallHead head;
    CallTerms call_terms;
    const Status may = read_call_fields(std::move(request), &head, &call_terms);
    const GrpcTerms& terms = shared->terms;
    const bool packs = terms.compression_level > 0 && terms.packs && terms.packs(head.path);
    auto call = std::make_shared<StreamCall>(std::move(writer),
                                             packs ? answer_coding(call_terms, terms.compression_level) : std::nullopt);
    if (!may.is_ok()) {
      call->finish(rpc_status(may));
      return std::make_shared<NoReader>();
    }
    if (call_terms.timeout_ns >= 0) call->set_deadline(head.begin_ns + call_terms.timeout_ns);
    std::shared_ptr<CallHandler> handler = shared->service(std::move(head), call);
    return std::make_shared<CallReader>(shared, std::move(call), std::move(handler), call_terms.coding);
  };
}

}  // namespace nereid::server::net::grpc
