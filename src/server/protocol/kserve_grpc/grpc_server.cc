// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve_grpc/grpc_server.h"

#include <algorithm>
#include <thread>
#include <unordered_map>
#include <utility>

#include "server/core/running_count.h"
#include "server/net/worker_pool.h"
#include "server/protocol/kserve_grpc/blocking_threads.h"
#include "server/protocol/kserve_grpc/channel_arguments.h"
#include "server/protocol/kserve_grpc/grpc_call.h"
#include "server/protocol/kserve_grpc/infer_call.h"
#include "server/protocol/kserve_grpc/stream_call.h"
#include "server/protocol/kserve_grpc/unary_calls.h"

namespace nereid::server::kserve {
namespace {

using net::grpc::Call;
using net::grpc::CallHandler;
using net::grpc::CallHead;
using net::grpc::RpcCode;
using net::grpc::RpcStatus;

constexpr std::string_view kInfer = "/inference.GRPCInferenceService/ModelInfer";
constexpr std::string_view kStreamInfer = "/inference.GRPCInferenceService/ModelStreamInfer";
constexpr int64_t kFlushMs = 500;  // what the last answers need to go out; idle streams are cut
constexpr int kWorkers = 2;
constexpr unsigned kMostLoops = 4;

// A call that is over before it begins: nothing that still comes matters.
class Refused final : public CallHandler {
 public:
  void message(std::shared_ptr<const std::string>) override {}
  void half_close() override {}
  void cancel() override {}
};

class UnaryCall final : public CallHandler {
 public:
  using Run = std::function<void(const std::shared_ptr<const std::string>&)>;
  UnaryCall(std::shared_ptr<Call> call, Run run) : call_(std::move(call)), run_(std::move(run)) {}
  void message(std::shared_ptr<const std::string> bytes) override {
    if (!std::exchange(is_begun_, true)) run_(bytes);
  }
  void half_close() override {
    if (!is_begun_) call_->finish({RpcCode::kInternal, "the call ended without a request"});
  }
  void cancel() override {}

 private:
  const std::shared_ptr<Call> call_;
  const Run run_;
  bool is_begun_ = false;
};

class RunningServer final : public GrpcServer {
 public:
  explicit RunningServer(GrpcOptions options) : options_(std::move(options)) {
    for (const auto table : {server_calls(), repository_calls(), memory_calls()})
      for (const UnaryRow& row : table) rows_.emplace(row.path, &row);
  }
  ~RunningServer() override { stop(0); }

  Status start() {
    net::http2::ServerOptions http{.host = options_.address, .port = options_.port};
    if (options_.tls) {
      NEREID_TRY(http.tls, net::TlsContext::make(*options_.tls));
    }
    apply_channel_arguments(options_.channel_arguments, &http);
    http.loop_threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency() / 4, 1u, kMostLoops));
    http.serve = net::grpc::serve_calls(
        {.pool = options_.pool,
         .compression_level = options_.compression_level,
         .packs = [](std::string_view path) { return path == kInfer || path == kStreamInfer; }},
        [this](CallHead&& head, std::shared_ptr<Call> call) { return serve(std::move(head), std::move(call)); });
    NEREID_TRY(server_, net::http2::Server::start(std::move(http)));
    port_ = server_->port();
    return Status::ok();
  }

  int port() const override { return port_; }
  void stop(int64_t timeout_ms) override {
    if (server_ == nullptr) return;
    calls_->drain_for(timeout_ms);
    server_->drain(std::min(timeout_ms, kFlushMs));
    server_ = nullptr;
  }

 private:
  std::shared_ptr<CallHandler> serve(CallHead&& head, std::shared_ptr<Call> call) {
    if (head.path == kInfer) return make_infer_call(options_, elsewhere_, calls_, std::move(head), std::move(call));
    if (head.path == kStreamInfer) return make_stream_call(options_, calls_, std::move(head), std::move(call));
    const auto found = rows_.find(head.path);
    const Status may =
        found == rows_.end() ? Status::ok() : check_access(options_, head.metadata, found->second->group);
    if (found == rows_.end() || !may.is_ok()) {
      call->finish(may.is_ok() ? RpcStatus{RpcCode::kUnimplemented, ""} : net::grpc::rpc_status(may));
      return std::make_shared<Refused>();
    }
    auto run = [this, row = found->second, call](const std::shared_ptr<const std::string>& bytes) {
      auto answer = [this, row, call, bytes] {
        std::string response;
        const RpcStatus status = row->answer(options_, *bytes, &response);
        status.is_ok() ? call->write_last({{.text = std::move(response)}}) : call->finish(status);
      };
      if (row->runs == CallRuns::kOnLoop) return answer();
      row->runs == CallRuns::kOnWorker ? workers_.run(std::move(answer)) : alone_.run(std::move(answer));
    };
    return std::make_shared<UnaryCall>(std::move(call), std::move(run));
  }

  const GrpcOptions options_;
  const std::shared_ptr<RunningCount> calls_ = std::make_shared<RunningCount>();
  std::unordered_map<std::string_view, const UnaryRow*> rows_;
  int port_ = 0;
  net::WorkerPool workers_{kWorkers};
  const RunElsewhere elsewhere_ = [this](std::function<void()> work) { workers_.run(std::move(work)); };
  BlockingThreads alone_;
  std::unique_ptr<net::http2::Server> server_;  // goes first: it calls back
};

}  // namespace

Result<std::unique_ptr<GrpcServer>> GrpcServer::start(GrpcOptions options) {
  auto server = std::make_unique<RunningServer>(std::move(options));
  NEREID_RETURN_IF_ERROR(server->start());
  return std::unique_ptr<GrpcServer>(std::move(server));
}

}  // namespace nereid::server::kserve
