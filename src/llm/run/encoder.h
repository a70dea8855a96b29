// SPDX-License-Identifier: Apache-2.0
// A model that turns texts into vectors, or judges them: an engine's program, its tokenizer, and what its vectors are
// for.
//
// Texts of a step lie one behind the other without padding and do not see each other: what a text gives does not depend
// on its company, bit for bit.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu_info.h"
#include "base/thread_pool.h"
#include "compile/encode_use.h"
#include "engine/engine_file.h"
#include "llm/token/tokenizer.h"
#include "runtime/context.h"

namespace nereid::llm {

struct EncoderOptions {
  Isa isa = Isa::baseline;
  int64_t max_tokens = 0;   // of a text; 0: what its files say
  int64_t step_tokens = 0;  // of one step; 0: 1024, or as the longest text needs
  int64_t step_texts = 128;
};

// What is to be encoded: a text, two that are read together, or tokens as they are.
struct EncodeInput {
  std::string text;
  std::optional<std::string> second;
  std::vector<int32_t> tokens;  // instead of a text, if there are any
  bool truncates = false;       // a text that is too long loses its end; else it is an error
};

// One text as the model reads it.
struct EncodeTokens {
  std::vector<int32_t> ids;
  int64_t second = 0;  // from here on the tokens belong to the second text; ids.size(): there is none
};

// prepare() may be called from any thread, run() from one at a time.
class Encoder {
 public:
  // kInvalidArgument: an engine that lies, or that is none of an encoder; options that make no sense.
  static Result<std::unique_ptr<Encoder>> load(const engine::EngineFile& file, const EncoderOptions& options,
                                               ThreadPool& pool);

  const token::Tokenizer& tokenizer() const { return *tokenizer_; }
  const compile::EncodeUse& use() const { return use_; }
  bool classifies() const { return labels_ > 0; }
  int64_t labels() const { return labels_; }
  int64_t width() const { return width_; }  // numbers that a text gives
  int64_t vocab() const { return vocab_; }
  int64_t max_tokens() const { return max_tokens_; }
  int64_t step_tokens() const { return step_tokens_; }
  int64_t step_texts() const { return step_texts_; }
  const Json& info() const { return info_; }
  int64_t weights_bytes() const { return program_->weights_bytes(); }
  runtime::Context& context() { return *context_; }

  // Tokens with what the model wants around a text. kInvalidArgument: too long (both lengths named), nothing at all, or
  // tokens that are not in the vocabulary.
  Result<EncodeTokens> prepare(const EncodeInput& input) const;
  // One vector, or the scores, of each text. kInvalidArgument: more than step_tokens() or step_texts(), or what
  // prepare() would not have made; kInternal: numbers that are none came out.
  Result<std::vector<std::vector<float>>> run(std::span<const EncodeTokens* const> texts);

 private:
  Encoder() = default;
  Status read_info(const engine::EngineFile& file, const EncoderOptions& options);
  Status check(std::span<const EncodeTokens* const> texts) const;
  std::vector<float> pooled(int64_t first, int64_t size) const;
  std::vector<float> scores(int64_t row) const;

  Json info_;
  compile::EncodeUse use_;
  std::shared_ptr<const runtime::Program> program_;
  std::unique_ptr<runtime::Context> context_;
  std::unique_ptr<token::Tokenizer> tokenizer_;
  std::string output_;  // of the graph
  int64_t vocab_ = 0, hidden_ = 0, labels_ = 0, types_ = 0, width_ = 0;
  int64_t max_tokens_ = 0, step_tokens_ = 0, step_texts_ = 0;
  int tokens_symbol_ = 0, boundaries_symbol_ = 0, outputs_symbol_ = -1;
};

}  // namespace nereid::llm
