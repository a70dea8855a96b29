// SPDX-License-Identifier: Apache-2.0
#include "server/backend/llm/infer/counted_text_model.h"

#include <algorithm>

#include "base/clock.h"

namespace nereid::server {

void ModelCount::end(const Status& status, const Request& request) {
  const int64_t end_ns = now_ns();
  if (!status.is_ok()) {
    meter.add_failure(status.code() == StatusCode::kCancelled ? InferFailure::kCancelled : InferFailure::kBackend,
                      request.arrival_ns, end_ns);
    return;
  }
  meter.add_execution(
      request.items, 1,
      {.begin_ns = request.begin_ns, .input_end_ns = request.begin_ns, .infer_end_ns = end_ns, .end_ns = end_ns});
  meter.add_success(request.items, request.arrival_ns, request.begin_ns, end_ns, request.first_ns);
}

namespace {

class CountedTextModel final : public TextModel {
 public:
  CountedTextModel(std::shared_ptr<TextModel> model, std::shared_ptr<ModelCount> count)
      : model_(std::move(model)), count_(std::move(count)) {}

  const ModelCard& card() const override { return model_->card(); }
  std::vector<int32_t> tokenize(std::string_view text, bool add_special, bool parse_special) const override {
    return model_->tokenize(text, add_special, parse_special);
  }
  Result<std::string> detokenize(std::span<const int32_t> tokens) const override { return model_->detokenize(tokens); }
  std::string token_text(int32_t token) const override { return model_->token_text(token); }
  Result<std::vector<int32_t>> chat_prompt(const ChatInput& chat) const override { return model_->chat_prompt(chat); }
  void cancel(uint64_t id) override { model_->cancel(id); }
  std::vector<std::string> adapters() const override { return model_->adapters(); }
  Status load_adapter(const std::string& name, const std::string& path, double scale) override {
    return model_->load_adapter(name, path, scale);
  }
  Status unload_adapter(std::string_view name) override { return model_->unload_adapter(name); }
  Result<uint64_t> encode(EncodeRequest request, EncodeSink sink) override {
    return model_->encode(std::move(request), std::move(sink));
  }

  Result<uint64_t> generate(TextRequest request, TextSink sink) override {
    if (!count_->running.begin())
      return unavailable("the model '{}' is being unloaded and takes no more requests", card().name);
    struct Progress {
      int32_t left = 1;
      int64_t begin_ns = 0, first_ns = 0;
      Status status;
    };
    auto progress = std::make_shared<Progress>(
        Progress{.left = std::max(1, request.choices), .begin_ns = now_ns(), .first_ns = 0, .status = Status::ok()});
    Result<uint64_t> id =
        model_->generate(std::move(request), [count = count_, progress, sink = std::move(sink)](TextOutput&& output) {
          if (output.token >= 0 && progress->first_ns == 0) progress->first_ns = now_ns();
          const bool is_last = output.is_last;
          if (is_last && !output.status.is_ok()) progress->status = output.status;
          if (is_last && output.finish == TextFinish::kCancelled) progress->status = cancelled("the client has gone");
          if (is_last && output.finish == TextFinish::kTimeout) progress->status = unavailable("timeout");
          const bool is_over = is_last && --progress->left == 0;
          if (is_over)
            count->end(progress->status, {.items = 1,
                                          .arrival_ns = progress->begin_ns,
                                          .begin_ns = progress->begin_ns,
                                          .first_ns = progress->first_ns});
          sink(std::move(output));
          if (is_over) count->running.end();
        });
    if (!id.is_ok()) {
      count_->end(id.status(), {.items = 1, .arrival_ns = progress->begin_ns, .begin_ns = progress->begin_ns});
      count_->running.end();
    }
    return id;
  }

 private:
  const std::shared_ptr<TextModel> model_;
  const std::shared_ptr<ModelCount> count_;
};

}  // namespace

std::shared_ptr<TextModel> counted_text_model(std::shared_ptr<TextModel> model, std::shared_ptr<ModelCount> count) {
  return std::make_shared<CountedTextModel>(std::move(model), std::move(count));
}

}  // namespace nereid::server
