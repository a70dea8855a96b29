// SPDX-License-Identifier: Apache-2.0
// A model of embeddings or of ranking that a server offers: an encoder's queue behind server/core's interface.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "llm/run/encode_queue.h"
#include "llm/run/open_encoder.h"
#include "server/core/text_model.h"

namespace nereid::server {

struct EncoderModelOptions {
  std::string name;  // as requests name it; "": the path's last part without its ending
  llm::OpenOptions open;
  llm::EncodeQueueOptions queue;
};

class EncoderModel final : public TextModel {
 public:
  // Whether the model at `path` is one of these; false also where nothing can be read there.
  static bool is_one(const std::string& path);
  // Opens the model (or packs it first: `progress` hears the bytes done and their total) and starts its queue. Errors
  // as llm::open_encoder, which also sets `wrong_option`.
  static Result<std::unique_ptr<EncoderModel>> open(const std::string& path, const EncoderModelOptions& options,
                                                    const std::function<void(int64_t, int64_t)>& progress = {},
                                                    bool* wrong_option = nullptr);

  const ModelCard& card() const override { return card_; }
  std::vector<int32_t> tokenize(std::string_view text, bool add_special, bool parse_special) const override;
  Result<std::string> detokenize(std::span<const int32_t> tokens) const override;
  std::string token_text(int32_t token) const override;
  Result<std::vector<int32_t>> chat_prompt(const ChatInput& chat) const override;
  Result<uint64_t> generate(TextRequest request, TextSink sink) override;
  Result<uint64_t> encode(EncodeRequest request, EncodeSink sink) override;
  void cancel(uint64_t id) override { queue_->cancel(id); }

  llm::EncodeStats stats() const { return queue_->stats(); }
  // Refuses new requests, lets those at hand end, at most so long; then cancels the rest.
  void drain(int64_t timeout_us) { queue_->drain(timeout_us); }
  const llm::OpenedEncoder& opened() const { return opened_; }

 private:
  EncoderModel() = default;

  ModelCard card_;
  llm::OpenedEncoder opened_;
  std::unique_ptr<llm::EncodeQueue> queue_;  // goes first
};

}  // namespace nereid::server
