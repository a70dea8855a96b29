// SPDX-License-Identifier: Apache-2.0
#include "server/host/metered_model.h"

#include <utility>

#include "base/clock.h"

namespace nereid::server {
namespace {

using metrics::Metric;

double seconds(int64_t ns) {
  return 1e-9 * static_cast<double>(ns);
}

// A model's rows, found once.
struct Meters {
  Meters(metrics::Registry& r, const std::string& m)
      : first_token(r.histogram(Metric::kTimeToFirstToken, {m})),
        inter_token(r.histogram(Metric::kInterToken, {m})),
        whole(r.histogram(Metric::kRequestSeconds, {m})),
        prompt_size(r.histogram(Metric::kPromptTokensOfRequest, {m})),
        answer_size(r.histogram(Metric::kAnswerTokensOfRequest, {m})),
        prompt_tokens(r.counter(Metric::kPromptTokens, {m})),
        reused_tokens(r.counter(Metric::kReusedTokens, {m})),
        answer_tokens(r.counter(Metric::kAnswerTokens, {m})),
        stop(r.counter(Metric::kRequests, {m, "stop"})),
        length(r.counter(Metric::kRequests, {m, "length"})),
        cancelled(r.counter(Metric::kRequests, {m, "cancelled"})),
        timeout(r.counter(Metric::kRequests, {m, "timeout"})),
        failed(r.counter(Metric::kRequests, {m, "failed"})),
        refused(r.counter(Metric::kRequests, {m, "refused"})) {}

  metrics::Counter& outcome(const TextOutput& last) {
    if (!last.status.is_ok()) return failed;
    switch (last.finish) {
      case TextFinish::kStop:
        return stop;
      case TextFinish::kLength:
        return length;
      case TextFinish::kCancelled:
        return cancelled;
      case TextFinish::kTimeout:
        return timeout;
    }
    return failed;
  }

  metrics::Histogram &first_token, &inter_token, &whole, &prompt_size, &answer_size;
  metrics::Counter &prompt_tokens, &reused_tokens, &answer_tokens;
  metrics::Counter &stop, &length, &cancelled, &timeout, &failed, &refused;
};

// One request. Outputs of a request come one after the other, so nothing is locked.
struct Timing {
  std::shared_ptr<Meters> meters;
  int64_t begin_ns = 0;
  std::vector<int64_t> last_ns;  // of a choice's last token; 0: none yet
  size_t choices_left = 0;
  bool has_token = false;

  void see(const TextOutput& output) {
    const int64_t now = now_ns();
    const auto choice = static_cast<size_t>(output.choice);
    if (output.token >= 0 && choice < last_ns.size()) {
      if (!std::exchange(has_token, true)) meters->first_token.observe(seconds(now - begin_ns));
      if (last_ns[choice] != 0) meters->inter_token.observe(seconds(now - last_ns[choice]));
      last_ns[choice] = now;
    }
    if (!output.is_last) return;
    meters->outcome(output).add(1);
    meters->answer_tokens.add(output.answer_tokens);
    meters->answer_size.observe(static_cast<double>(output.answer_tokens));
    if (choices_left == 0 || --choices_left > 0) return;
    meters->prompt_tokens.add(output.prompt_tokens);
    meters->prompt_size.observe(static_cast<double>(output.prompt_tokens));
    meters->reused_tokens.add(output.reused_tokens);
    meters->whole.observe(seconds(now - begin_ns));
  }
};

class MeteredModel final : public TextModel {
 public:
  MeteredModel(std::shared_ptr<TextModel> model, metrics::Registry& registry)
      : model_(std::move(model)), meters_(std::make_shared<Meters>(registry, model_->card().name)) {}

  const ModelCard& card() const override { return model_->card(); }
  std::vector<int32_t> tokenize(std::string_view text, bool add_special, bool parse_special) const override {
    return model_->tokenize(text, add_special, parse_special);
  }
  Result<std::string> detokenize(std::span<const int32_t> tokens) const override { return model_->detokenize(tokens); }
  std::string token_text(int32_t token) const override { return model_->token_text(token); }
  Result<std::vector<int32_t>> chat_prompt(const ChatInput& chat) const override { return model_->chat_prompt(chat); }

  Result<uint64_t> generate(TextRequest request, TextSink sink) override {
    const auto choices = static_cast<size_t>(std::max(request.choices, 1));
    auto timing = std::make_shared<Timing>(Timing{
        .meters = meters_, .begin_ns = now_ns(), .last_ns = std::vector<int64_t>(choices), .choices_left = choices});
    Result<uint64_t> id = model_->generate(std::move(request), [timing, sink = std::move(sink)](TextOutput&& output) {
      timing->see(output);
      sink(std::move(output));
    });
    if (!id.is_ok()) meters_->refused.add(1);
    return id;
  }
  void cancel(uint64_t id) override { model_->cancel(id); }
  std::vector<std::string> adapters() const override { return model_->adapters(); }
  Status load_adapter(const std::string& name, const std::string& path, double scale) override {
    return model_->load_adapter(name, path, scale);
  }
  Status unload_adapter(std::string_view name) override { return model_->unload_adapter(name); }

  Result<uint64_t> encode(EncodeRequest request, EncodeSink sink) override {
    const int64_t begin_ns = now_ns();
    const std::shared_ptr<Meters> meters = meters_;
    Result<uint64_t> id =
        model_->encode(std::move(request), [meters, begin_ns, sink = std::move(sink)](EncodeAnswer&& answer) {
          const bool is_cancelled = answer.status.code() == StatusCode::kCancelled;
          (answer.status.is_ok() ? meters->stop : is_cancelled ? meters->cancelled : meters->failed).add(1);
          meters->whole.observe(seconds(now_ns() - begin_ns));
          int64_t tokens = 0;
          for (const Encoded& one : answer.results) tokens += one.tokens;
          meters->prompt_tokens.add(tokens);
          meters->prompt_size.observe(static_cast<double>(tokens));
          sink(std::move(answer));
        });
    if (!id.is_ok()) meters_->refused.add(1);
    return id;
  }

 private:
  const std::shared_ptr<TextModel> model_;
  const std::shared_ptr<Meters> meters_;
};

}  // namespace

std::shared_ptr<TextModel> metered(std::shared_ptr<TextModel> model, metrics::Registry& registry) {
  return std::make_shared<MeteredModel>(std::move(model), registry);
}

}  // namespace nereid::server
