// SPDX-License-Identifier: Apache-2.0
// Messages ModelInferRequest as a client may send them: read, checked against a model, and answered with what was read.
#include <cstddef>
#include <cstdint>

#include "server/core/infer_check.h"
#include "server/protocol/kserve_grpc/grpc_messages.h"

namespace nereid::server {
namespace {

class EchoModel final : public InferModel {
 public:
  EchoModel() {
    config_.name = "m";
    config_.max_batch_size = 4;
    config_.inputs = {
        {.name = "INPUT0", .type = InferType::kFp32, .dims = {-1}, .reshape = {}, .label_file = {}},
        {.name = "T", .type = InferType::kBytes, .dims = {-1}, .reshape = {}, .is_optional = true, .label_file = {}}};
    config_.outputs = config_.inputs;
  }
  const ModelConfig& config() const override { return config_; }
  int64_t version() const override { return 1; }
  const std::string& config_json() const override { return json_; }
  const std::vector<std::string>& labels(std::string_view) const override { return labels_; }
  Status infer(InferRequest, InferSink) override { return Status::ok(); }
  InferStatistics statistics() const override { return {}; }
  bool is_ready() const override { return true; }
  void drain() override {}

 private:
  ModelConfig config_;
  const std::string json_ = "{}";
  const std::vector<std::string> labels_;
};

void run(const uint8_t* data, size_t size) {
  static EchoModel model;
  const auto bytes = std::make_shared<const std::string>(reinterpret_cast<const char*>(data), size);
  kserve::SplitRequest split;
  if (!kserve::split_request(*bytes, &split).is_ok()) return;
  (void)kserve::read_version(split.message.model_version());
  const SharedMemory shared(false);
  kserve::GrpcAnswerShape shape;
  auto request = kserve::read_request(split, bytes, shared, &shape);
  if (!request.is_ok()) return;
  int64_t batch = 0;
  if (!check_request(model.config(), &*request, &batch).is_ok()) return;
  inference::ModelInferResponse response;
  std::vector<kserve::RawTensor> raw;
  (void)kserve::write_response(
      model, shape, shared,
      {.status = {}, .outputs = std::move(request->inputs), .parameters = std::move(request->parameters)}, &response,
      &raw);
  (void)kserve::write_stream_pieces(response, std::move(raw));
}

}  // namespace
}  // namespace nereid::server

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  nereid::server::run(data, size);
  return 0;
}
