// SPDX-License-Identifier: Apache-2.0
#include "server/backend/encoder/encoder_model.h"

#include <ctime>
#include <filesystem>

#include "compile/encode_use.h"

namespace nereid::server {
namespace {

// "models/bge.gguf": bge; "models/all-MiniLM-L6-v2/": all-MiniLM-L6-v2.
std::string name_of(const std::string& path) {
  std::filesystem::path p = std::filesystem::path(path).lexically_normal();
  if (!p.has_filename()) p = p.parent_path();
  const bool is_file_of_weights = p.extension() == ".gguf" || p.extension() == ".engine";
  return is_file_of_weights ? p.stem().string() : p.filename().string();
}

}  // namespace

bool EncoderModel::is_one(const std::string& path) {
  return compile::model_encodes(path);
}

Result<std::unique_ptr<EncoderModel>> EncoderModel::open(const std::string& path, const EncoderModelOptions& options,
                                                         const std::function<void(int64_t, int64_t)>& progress,
                                                         bool* wrong_option) {
  std::unique_ptr<EncoderModel> m(new EncoderModel);
  NEREID_TRY(m->opened_, llm::open_encoder(path, options.open, {}, progress, wrong_option));
  const llm::Encoder& encoder = *m->opened_.encoder;
  m->card_.name = options.name.empty() ? name_of(path) : options.name;
  m->card_.created_s = static_cast<int64_t>(std::time(nullptr));
  m->card_.context_tokens = encoder.max_tokens();
  m->card_.vocab = encoder.vocab();
  m->card_.embeds = !encoder.classifies();
  m->card_.reranks = encoder.labels() == 1;
  m->queue_ = llm::EncodeQueue::start(*m->opened_.encoder, options.queue);
  return m;
}

std::vector<int32_t> EncoderModel::tokenize(std::string_view text, bool add_special, bool parse_special) const {
  return opened_.encoder->tokenizer().encode(text, {.add_special = add_special, .parse_special = parse_special});
}

Result<std::string> EncoderModel::detokenize(std::span<const int32_t> tokens) const {
  for (const int32_t token : tokens)
    if (token < 0 || token >= card_.vocab)
      return invalid_argument("token {} is outside the vocabulary of {}", token, card_.vocab);
  return opened_.encoder->tokenizer().decode(tokens, {.skip_special = false});
}

std::string EncoderModel::token_text(int32_t token) const {
  return opened_.encoder->tokenizer().decode({&token, 1}, {.skip_special = false});
}

Result<std::vector<int32_t>> EncoderModel::chat_prompt(const ChatInput& /*chat*/) const {
  return unsupported("the model {} generates no text, so there are no chats with it", card_.name);
}

Result<uint64_t> EncoderModel::generate(TextRequest /*request*/, TextSink /*sink*/) {
  return unsupported("the model {} generates no text", card_.name);
}

Result<uint64_t> EncoderModel::encode(EncodeRequest request, EncodeSink sink) {
  std::vector<llm::EncodeInput> inputs;
  inputs.reserve(request.texts.size());
  for (EncodeText& text : request.texts) {
    if (text.second.has_value() && !card_.reranks)
      return unsupported("the model {} gives vectors of texts and judges no two of them", card_.name);
    if (!text.second.has_value() && !card_.embeds)
      return unsupported("the model {} judges two texts at a time and gives no vectors", card_.name);
    inputs.push_back({.text = std::move(text.text),
                      .second = std::move(text.second),
                      .tokens = std::move(text.tokens),
                      .truncates = request.truncates});
  }
  return queue_->submit(std::move(inputs), [sink = std::move(sink)](llm::EncodeOutput&& output) {
    EncodeAnswer answer{.status = std::move(output.status), .results = {}};
    if (answer.status.is_ok())
      for (size_t i = 0; i < output.vectors.size(); ++i)
        answer.results.push_back({.values = std::move(output.vectors[i]), .tokens = output.tokens[i]});
    sink(std::move(answer));
  });
}

}  // namespace nereid::server
