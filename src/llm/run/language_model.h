// SPDX-License-Identifier: Apache-2.0
// A language model ready to run: an engine's program, its key/value cache, its tokenizer and chat template.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/cpu_info.h"
#include "base/thread_pool.h"
#include "compile/open_adapter.h"
#include "engine/engine_file.h"
#include "llm/chat/chat_template.h"
#include "llm/run/kv_types.h"
#include "llm/run/sampler_maker.h"
#include "llm/token/tokenizer.h"
#include "runtime/accelerator.h"
#include "runtime/context.h"
#include "runtime/row_drawer.h"

namespace nereid::llm {

struct LoadOptions {
  Isa isa = Isa::baseline;     // the kernels to use; best_isa() is the usual value
  int64_t context_tokens = 0;  // longest sequence, prompt and answer; 0: the model's, at most 8192
  int64_t max_sequences = 1;   // sequences that live at the same time
  int64_t step_tokens = 512;   // tokens of one step: prompts are run in chunks of that size
  int64_t max_outputs = 1;     // rows of logits of one step
  // What the pages of the key/value cache hold together. 0: the whole context of every sequence, which then owns its
  // pages for good. Else pages belong to nobody until set_pages() gives them. kCacheByMemory: what max_sequences of a
  // usual length need, and at most a quarter of the memory there is. Memory is taken when a page is first written.
  int64_t cache_tokens = 0;
  KvTypes kv_types;         // of the cache; the engine's by default
  int64_t page_tokens = 0;  // of a page of the cache, a multiple of 16; 0: the engine's
  // Runs the model; none: the CPU. Nobody else uses it.
  std::shared_ptr<runtime::Accelerator> accelerator;
};
inline constexpr int64_t kCacheByMemory = -1;

// One step's work: tokens of one or more sequences, each at its position. Sequence ids are below max_sequences; a
// sequence's positions are filled in order from 0, and may be filled again from any position on (what lay behind it is
// forgotten then).
struct StepInput {
  std::span<const int32_t> tokens;
  std::span<const int32_t> positions;
  std::span<const int32_t> sequences;
  std::span<const int32_t> output_rows;  // which of the tokens want logits
  // Of each token, null for none; empty: no token has one. Each must be of this model (open_adapter) and outlive the
  // step.
  std::span<const runtime::Adapter* const> adapters = {};
};

// Not thread-safe: one thread steps a model at a time; the pool does the work.
class LanguageModel {
 public:
  static Result<std::unique_ptr<LanguageModel>> load(const engine::EngineFile& file, const LoadOptions& options,
                                                     ThreadPool& pool);

  const token::Tokenizer& tokenizer() const { return *tokenizer_; }
  // Any thread, at any time.
  SamplerMaker& samplers() { return *samplers_; }
  // The model's own template; nothing if it has none (then chat::... fallbacks apply).
  const std::optional<chat::ChatTemplate>& chat_template() const { return chat_template_; }
  int64_t vocab() const { return vocab_; }
  int64_t context_tokens() const { return context_tokens_; }
  int64_t step_tokens() const { return options_.step_tokens; }
  int64_t max_sequences() const { return options_.max_sequences; }
  int64_t max_outputs() const { return options_.max_outputs; }
  int64_t page_tokens() const { return page_tokens_; }
  int64_t pages() const { return pages_; }
  const Json& info() const { return info_; }
  uint64_t fingerprint() const { return fingerprint_; }  // of weights, graph and tokenizer

  // Runs one step; logits of row i of output_rows are logits(i), `vocab` long, valid until the next step.
  // kInvalidArgument: a token outside the vocabulary, a position past the context, too many tokens or outputs.
  Status step(const StepInput& input);
  std::span<float> logits(int64_t row);

  // Where tokens can be drawn on the device: step() in parts, so that other work is done meanwhile. start(), draw() at
  // most once, finish(); logits of rows that were brought over can then be read.
  bool can_draw() const { return context_->drawer() != nullptr; }
  Status start(const StepInput& input);
  Status draw(const runtime::DrawRequest& request) { return context_->drawer()->draw(request); }
  Status finish() { return context_->drawer()->finish(); }
  runtime::DrawnRows drawn() const { return context_->drawer()->drawn(); }
  Status bring_logits(std::span<const int32_t> rows) { return context_->drawer()->bring(rows); }

  // A LoRA adapter for step(). Any thread, at any time. Errors: as compile::open_adapter; kUnsupported also where a
  // matrix that it adapts runs on its reference evaluator.
  Result<compile::OpenedAdapter> open_adapter(std::span<const compile::AdapterSource> sources) const;

  // From the next step on page `first + i` of the sequence (its positions from (first + i) * page_tokens() on) lies in
  // pages[i], and it has none behind those; -1 stands for a page that no token looks at any more. Sequences may share
  // pages that none of them writes to. kInvalidArgument: a sequence, a page or a number of pages that there is not, or
  // a gap before `first`.
  Status set_pages(int32_t sequence, int64_t first, std::span<const int32_t> pages);
  // What a page holds, in all layers, also to another; both below pages() (checked). A device that fails here says so
  // in the next step.
  void copy_page(int32_t from, int32_t to);
  // The same to and from memory of page_bytes(), layer after layer.
  int64_t page_bytes() const;
  void read_page(int32_t page, std::span<std::byte> dst) const;
  void write_page(int32_t page, std::span<const std::byte> src);
  // Those that the sequence has, from its beginning.
  std::span<const int32_t> pages_of(int32_t sequence) const;

  // Bytes that one generated token has to read: all weights once, embedding rows aside; plus the cache at `position`.
  double bytes_per_token(int64_t position) const;
  int64_t cache_bytes_per_token() const { return cache_bytes_per_token_; }
  std::string cache_type() const { return cache_type_name(program_->graph()); }
  uint64_t cache_layout() const { return llm::cache_layout(program_->graph()); }
  int64_t weights_bytes() const { return program_->weights_bytes(); }
  const kernels::IsaKernels& kernels() const { return program_->kernels(); }
  runtime::Context& context() { return *context_; }
  // Idle between steps.
  ThreadPool& pool() { return *pool_; }

 private:
  LanguageModel() = default;
  Status choose_pages();
  int64_t cache_memory() const;
  Status make_cache(const graph::Graph& graph, runtime::ContextOptions& options);
  Status check(const StepInput& input) const;
  Status prepare(const StepInput& input);
  void set_adapters(const StepInput& input);

  LoadOptions options_;
  ThreadPool* pool_ = nullptr;
  Json info_;
  uint64_t fingerprint_ = 0;
  std::shared_ptr<const runtime::Program> program_;
  // One for the keys and one for the values of each layer, all of equal pages.
  std::vector<std::unique_ptr<runtime::StateBuffer>> cache_;
  std::vector<int64_t> page_counts_;  // by sequence, from its beginning
  int32_t* page_table_ = nullptr;
  std::unique_ptr<runtime::Context> context_;
  // Of the step at hand: rows of each adapter, among the tokens and among the outputs.
  struct RowsOf {
    const runtime::Adapter* adapter;
    std::vector<int32_t> tokens, outputs;
  };
  std::vector<RowsOf> rows_of_adapters_;
  bool had_adapters_ = false;
  std::unique_ptr<token::Tokenizer> tokenizer_;
  std::unique_ptr<SamplerMaker> samplers_;
  std::optional<chat::ChatTemplate> chat_template_;
  int64_t vocab_ = 0, context_tokens_ = 0, page_tokens_ = 0, pages_per_sequence_ = 0, pages_ = 0;
  int64_t cache_bytes_per_token_ = 0;
  int tokens_symbol_ = 0, outputs_symbol_ = 0;
};

}  // namespace nereid::llm
