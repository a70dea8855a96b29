// SPDX-License-Identifier: Apache-2.0
// A language model that a server offers: an executor of many requests behind server/core's interface.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "llm/run/conversation.h"
#include "llm/run/executor.h"
#include "llm/run/open_draft.h"
#include "llm/run/open_model.h"
#include "server/core/text_model.h"

namespace nereid::server {

struct LlmModelOptions {
  std::string name;  // as requests name it; "": the path's last part without its ending
  llm::OpenOptions open;
  llm::ExecutorOptions executor;
  std::string draft;          // path of a smaller model that guesses for it; "": none
  std::string chat_template;  // "": the model's own; a built-in one's name, or a file
  // How it calls tools and writes what it thinks, as the card names it; "auto": told from its template; "none".
  std::string tool_format = "auto", thought_format = "auto";
};

class LlmModel final : public TextModel {
 public:
  // Opens the model at `path` (or packs it first: `progress` hears the bytes done and their total) and starts its
  // executor. Errors as llm::open_model, which also sets `wrong_option`, and llm::choose_template.
  static Result<std::unique_ptr<LlmModel>> open(const std::string& path, const LlmModelOptions& options,
                                                const std::function<void(int64_t, int64_t)>& progress = {},
                                                bool* wrong_option = nullptr);
  // Cancels what is left and waits for the step at hand.
  ~LlmModel() override;

  const ModelCard& card() const override { return card_; }
  std::vector<int32_t> tokenize(std::string_view text, bool add_special, bool parse_special) const override;
  Result<std::string> detokenize(std::span<const int32_t> tokens) const override;
  std::string token_text(int32_t token) const override;
  Result<std::vector<int32_t>> chat_prompt(const ChatInput& chat) const override;
  Result<uint64_t> generate(TextRequest request, TextSink sink) override;
  void cancel(uint64_t id) override;
  std::vector<std::string> adapters() const override;
  Status load_adapter(const std::string& name, const std::string& path, double scale) override;
  Status unload_adapter(std::string_view name) override;

  // Any thread.
  llm::ExecutorStats stats() const { return executor_->stats(); }
  // Refuses new requests, lets those at hand end, at most so long; then cancels the rest.
  Status drain(int64_t timeout_us) { return executor_->drain(timeout_us); }
  // How it was opened: path, threads, warnings, time.
  const llm::OpenedModel& opened() const { return opened_; }

 private:
  LlmModel() = default;

  ModelCard card_;
  llm::OpenedModel opened_;
  llm::OpenedDraft draft_;
  std::optional<chat::ChatTemplate> template_;
  std::unique_ptr<llm::Executor> executor_;  // goes first
};

}  // namespace nereid::server
