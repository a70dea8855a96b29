// SPDX-License-Identifier: Apache-2.0
#include "llm/run/language_model.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "base/memory_limits.h"
#include "llm/run/model_interface.h"

namespace nereid::llm {
namespace {

// Prompt and answer of a usual request: what kCacheByMemory has pages for, times the sequences.
constexpr int64_t kUsualTokens = 1024;

}  // namespace

Result<std::unique_ptr<LanguageModel>> LanguageModel::load(const engine::EngineFile& file, const LoadOptions& options,
                                                           ThreadPool& pool) {
  std::unique_ptr<LanguageModel> m(new LanguageModel);
  m->options_ = options;
  m->pool_ = &pool;
  m->info_ = file.info();
  m->fingerprint_ = file.fingerprint();
  for (auto [name, value, least] : {std::tuple{"context_tokens", options.context_tokens, 0},
                                    {"max_sequences", options.max_sequences, 1},
                                    {"step_tokens", options.step_tokens, 1},
                                    {"max_outputs", options.max_outputs, 1},
                                    {"cache_tokens", options.cache_tokens, static_cast<int>(kCacheByMemory)}})
    if (value < least || value > INT32_MAX)
      return invalid_argument("{} is {} and should be between {} and {}", name, value, least, INT32_MAX);
  if (options.page_tokens < 0 || options.page_tokens > 4096 || options.page_tokens % 16 != 0)
    return invalid_argument("pages of {} tokens were asked for; expected a multiple of 16, at most 4096",
                            options.page_tokens);
  const std::string engine = "the engine '" + file.path() + "'";
  const Result<const Json*> model = json_object(m->info_, "model");
  if (!model.is_ok()) return invalid_argument("{} describes no language model", engine);
  NEREID_TRY(m->vocab_, json_int(**model, "vocab").with(engine));
  NEREID_TRY(const int64_t own_context, json_int(**model, "max_context").with(engine));
  if (own_context < 1) return invalid_argument("{} is made for a context of {} tokens", engine, own_context);
  constexpr int64_t kDefaultContext = 8192;
  m->context_tokens_ = options.context_tokens ? options.context_tokens : std::min(own_context, kDefaultContext);
  if (m->context_tokens_ > own_context)
    return invalid_argument("a context of {} tokens was asked for, but the model is made for at most {}",
                            m->context_tokens_, own_context);

  NEREID_TRY(m->program_, runtime::Program::load(file, options.isa, pool, [&](const graph::Graph& graph) {
               KvTypes types = options.kv_types;
               if (options.accelerator) types.set_default(options.accelerator->cache_type(graph));
               return cache_types(graph, types, options.page_tokens);
             }));
  NEREID_TRY(const ModelInterface interface, check_interface(m->program_->graph()).with(engine));
  if (interface.vocab != m->vocab_)
    return invalid_argument("{} says that it has {} tokens, but its graph has {}", engine, m->vocab_, interface.vocab);
  m->page_tokens_ = interface.page_tokens;
  NEREID_RETURN_IF_ERROR(m->choose_pages());
  runtime::ContextOptions context;
  context.bounds = {{"tokens", options.step_tokens},
                    {"outputs", options.max_outputs},
                    {"sequences", options.max_sequences},
                    {"pages_per_sequence", m->pages_per_sequence_},
                    {"pages", m->pages_}};
  NEREID_RETURN_IF_ERROR(m->make_cache(m->program_->graph(), context));
  NEREID_TRY(m->context_, options.accelerator ? options.accelerator->make_context(m->program_, pool, context)
                                              : runtime::Context::create(m->program_, pool, context));
  m->tokens_symbol_ = m->context_->symbol("tokens");
  m->outputs_symbol_ = m->context_->symbol("outputs");

  m->page_table_ = m->context_->input<int32_t>("page_table");
  m->page_counts_.assign(static_cast<size_t>(options.max_sequences), 0);
  if (options.cache_tokens == 0) {
    // Every sequence owns its pages for good: page p of sequence s is s * pages_per_sequence + p.
    m->page_counts_.assign(static_cast<size_t>(options.max_sequences), m->pages_per_sequence_);
    for (int64_t i = 0; i < m->pages_; ++i) m->page_table_[i] = static_cast<int32_t>(i);
  }

  NEREID_TRY(const Metadata metadata, Metadata::parse(file.metadata()).with("the engine's metadata"));
  NEREID_TRY(token::TokenizerSpec spec, token::TokenizerSpec::from_metadata(metadata));
  NEREID_TRY(m->tokenizer_, token::make_tokenizer(std::move(spec)));
  m->samplers_ = std::make_unique<SamplerMaker>(*m->tokenizer_, m->vocab_);
  if (const std::string& source = m->tokenizer_->chat_template(); !source.empty()) {
    NEREID_TRY(m->chat_template_, chat::ChatTemplate::parse(source));
  }
  return m;
}

// How many pages there are.
Status LanguageModel::choose_pages() {
  pages_per_sequence_ = (context_tokens_ + page_tokens_ - 1) / page_tokens_;
  if (pages_per_sequence_ > INT32_MAX / options_.max_sequences)
    return exhausted("{} sequences of {} tokens have more pages than can be numbered", options_.max_sequences,
                     context_tokens_);
  const int64_t all = pages_per_sequence_ * options_.max_sequences;
  pages_ = all;
  for (graph::ValueId id : program_->graph().states()) {
    const graph::Value& v = program_->graph().value(id);
    int64_t elements = 1;
    for (size_t i = 1; i < v.type.shape.dims().size(); ++i)
      if (!v.type.shape.dims()[i].is_static() ||
          __builtin_mul_overflow(elements, v.type.shape.dims()[i].size(), &elements))
        return exhausted("a page of the key/value cache '{}' is too large", v.name);
    const std::optional<int64_t> bytes = dtype_bytes(v.type.dtype, elements);
    if (!bytes || __builtin_add_overflow(cache_bytes_per_token_, *bytes / page_tokens_, &cache_bytes_per_token_))
      return exhausted("a page of the key/value cache '{}' is too large", v.name);
  }
  if (options_.cache_tokens > 0) pages_ = std::min(all, (options_.cache_tokens + page_tokens_ - 1) / page_tokens_);
  if (options_.cache_tokens == kCacheByMemory) {
    const int64_t usual = options_.max_sequences * std::min(kUsualTokens, context_tokens_);
    const int64_t affordable = cache_memory() / std::max<int64_t>(cache_bytes_per_token_, 1);
    pages_ = std::clamp(std::min(usual, affordable) / page_tokens_, pages_per_sequence_, all);
  }
  return Status::ok();
}

// What a cache may take where nobody said it: a quarter of the host's memory, or most of what the weights leave of a
// device's, which nobody else needs.
int64_t LanguageModel::cache_memory() const {
  if (!options_.accelerator) return available_memory_bytes() / 4;
  const Result<int64_t> free = options_.accelerator->free_bytes();
  return free.is_ok() ? std::max<int64_t>(*free - 2 * program_->weights_bytes(), *free / 8) / 2 : 0;
}

Status LanguageModel::make_cache(const graph::Graph& graph, runtime::ContextOptions& options) {
  for (graph::ValueId id : graph.states()) {
    const graph::Value& v = graph.value(id);
    int64_t elements = pages_;
    bool fits = true;
    for (size_t i = 1; i < v.type.shape.dims().size(); ++i)
      fits &= !__builtin_mul_overflow(elements, v.type.shape.dims()[i].size(), &elements);
    const std::optional<int64_t> bytes = fits ? dtype_bytes(v.type.dtype, elements) : std::nullopt;
    if (!bytes) return exhausted("the key/value cache '{}' for {} tokens is too large", v.name, pages_ * page_tokens_);
    NEREID_TRY(std::unique_ptr<runtime::StateBuffer> memory,
               options_.accelerator ? options_.accelerator->make_state(*bytes) : runtime::make_host_state(*bytes));
    options.states[v.name] = memory->data();
    cache_.push_back(std::move(memory));
  }
  return Status::ok();
}

Status LanguageModel::set_pages(int32_t sequence, int64_t first, std::span<const int32_t> pages) {
  if (sequence < 0 || sequence >= options_.max_sequences)
    return invalid_argument("sequence {} is not below {}", sequence, options_.max_sequences);
  int64_t& count = page_counts_[static_cast<size_t>(sequence)];
  const auto added = static_cast<int64_t>(pages.size());
  if (first < 0 || first > count || added > pages_per_sequence_ - first)
    return invalid_argument("sequence {} has {} pages and can have {}, which leaves no place for {} from {} on",
                            sequence, count, pages_per_sequence_, added, first);
  for (int32_t page : pages)
    if (page < -1 || page >= pages_) return invalid_argument("page {} is not below {}", page, pages_);
  // Any page will do for one that nobody looks at, as long as the kernels stay inside the cache.
  std::transform(pages.begin(), pages.end(), page_table_ + sequence * pages_per_sequence_ + first,
                 [](int32_t page) { return std::max(page, 0); });
  count = first + added;
  return Status::ok();
}

void LanguageModel::copy_page(int32_t from, int32_t to) {
  NEREID_CHECK(from >= 0 && from < pages_ && to >= 0 && to < pages_);
  for (const auto& layer : cache_) {
    const int64_t bytes = layer->bytes() / pages_;
    if (!layer->copy(from * bytes, to * bytes, bytes).is_ok()) return;
  }
}

int64_t LanguageModel::page_bytes() const {
  int64_t bytes = 0;
  for (const auto& layer : cache_) bytes += layer->bytes() / pages_;
  return bytes;
}

void LanguageModel::read_page(int32_t page, std::span<std::byte> dst) const {
  NEREID_CHECK(page >= 0 && page < pages_ && static_cast<int64_t>(dst.size()) == page_bytes());
  for (const auto& layer : cache_) {
    const int64_t bytes = layer->bytes() / pages_;
    if (!layer->read(page * bytes, dst.first(static_cast<size_t>(bytes))).is_ok()) return;
    dst = dst.subspan(static_cast<size_t>(bytes));
  }
}

void LanguageModel::write_page(int32_t page, std::span<const std::byte> src) {
  NEREID_CHECK(page >= 0 && page < pages_ && static_cast<int64_t>(src.size()) == page_bytes());
  for (const auto& layer : cache_) {
    const int64_t bytes = layer->bytes() / pages_;
    if (!layer->write(page * bytes, src.first(static_cast<size_t>(bytes))).is_ok()) return;
    src = src.subspan(static_cast<size_t>(bytes));
  }
}

std::span<const int32_t> LanguageModel::pages_of(int32_t sequence) const {
  NEREID_CHECK(sequence >= 0 && sequence < options_.max_sequences);
  return {page_table_ + sequence * pages_per_sequence_,
          static_cast<size_t>(page_counts_[static_cast<size_t>(sequence)])};
}

Status LanguageModel::check(const StepInput& in) const {
  const auto n = static_cast<int64_t>(in.tokens.size());
  if (n == 0 || n > options_.step_tokens || in.positions.size() != in.tokens.size() ||
      in.sequences.size() != in.tokens.size())
    return invalid_argument("a step takes 1 to {} tokens with a position and a sequence each, found {}, {} and {}",
                            options_.step_tokens, n, in.positions.size(), in.sequences.size());
  if (static_cast<int64_t>(in.output_rows.size()) > options_.max_outputs)
    return invalid_argument("a step gives the logits of at most {} tokens, {} were asked for", options_.max_outputs,
                            in.output_rows.size());
  for (size_t at = 0; at < in.tokens.size(); ++at) {
    if (in.tokens[at] < 0 || in.tokens[at] >= vocab_)
      return invalid_argument("token {} is outside the vocabulary of {}", in.tokens[at], vocab_);
    if (in.positions[at] < 0 || in.positions[at] >= context_tokens_)
      return exhausted("position {} is past the context of {} tokens", in.positions[at], context_tokens_);
    if (in.sequences[at] < 0 || in.sequences[at] >= options_.max_sequences)
      return invalid_argument("sequence {} is not below {}", in.sequences[at], options_.max_sequences);
    if (const int64_t pages = page_counts_[static_cast<size_t>(in.sequences[at])];
        in.positions[at] / page_tokens_ >= pages)
      return invalid_argument("position {} of sequence {} is past its {} pages of {} tokens", in.positions[at],
                              in.sequences[at], pages, page_tokens_);
  }
  if (!in.adapters.empty() && in.adapters.size() != in.tokens.size())
    return invalid_argument("a step of {} tokens names the adapters of {}", n, in.adapters.size());
  for (int32_t row : in.output_rows)
    if (row < 0 || row >= n) return invalid_argument("output row {} is not one of the step's {} tokens", row, n);
  return Status::ok();
}

Result<compile::OpenedAdapter> LanguageModel::open_adapter(std::span<const compile::AdapterSource> sources) const {
  if (options_.accelerator)
    return unsupported("adapters run on the CPU alone in this version; the model runs on {}",
                       options_.accelerator->name());
  NEREID_TRY(compile::OpenedAdapter opened, compile::open_adapter(sources, *program_, info_));
  for (graph::ValueId weight : opened.adapter->weights())
    if (!context_->takes_adapter(weight))
      return unsupported("the adapter adds to products with '{}', which run on the reference evaluator here",
                         program_->graph().value(weight).name);
  return opened;
}

void LanguageModel::set_adapters(const StepInput& in) {
  if (in.adapters.empty() && !had_adapters_) return;
  const auto rows_of = [this](const runtime::Adapter* adapter) -> RowsOf& {
    for (RowsOf& rows : rows_of_adapters_)
      if (rows.adapter == adapter) return rows;
    return rows_of_adapters_.emplace_back(RowsOf{adapter, {}, {}});
  };
  rows_of_adapters_.clear();
  for (size_t i = 0; i < in.adapters.size(); ++i)
    if (in.adapters[i]) rows_of(in.adapters[i]).tokens.push_back(static_cast<int32_t>(i));
  for (size_t i = 0; i < in.output_rows.size() && !in.adapters.empty(); ++i)
    if (const runtime::Adapter* adapter = in.adapters[static_cast<size_t>(in.output_rows[i])])
      rows_of(adapter).outputs.push_back(static_cast<int32_t>(i));
  had_adapters_ = !rows_of_adapters_.empty();
  std::vector<runtime::AdapterRows> tokens, outputs;
  for (const RowsOf& rows : rows_of_adapters_) {
    tokens.push_back({rows.adapter, rows.tokens});
    if (!rows.outputs.empty()) outputs.push_back({rows.adapter, rows.outputs});
  }
  context_->set_adapters(tokens_symbol_, tokens);
  context_->set_adapters(outputs_symbol_, outputs);
}

Status LanguageModel::prepare(const StepInput& in) {
  NEREID_RETURN_IF_ERROR(check(in));
  const auto copy = [](std::span<const int32_t> from, int32_t* to) { std::copy(from.begin(), from.end(), to); };
  copy(in.tokens, context_->input<int32_t>("tokens"));
  copy(in.positions, context_->input<int32_t>("positions"));
  copy(in.sequences, context_->input<int32_t>("sequence"));
  copy(in.output_rows, context_->input<int32_t>("output_rows"));
  context_->set_size(tokens_symbol_, static_cast<int64_t>(in.tokens.size()));
  context_->set_size(outputs_symbol_, static_cast<int64_t>(in.output_rows.size()));
  set_adapters(in);
  return Status::ok();
}

Status LanguageModel::step(const StepInput& in) {
  NEREID_RETURN_IF_ERROR(prepare(in));
  return context_->run();
}

Status LanguageModel::start(const StepInput& in) {
  NEREID_RETURN_IF_ERROR(prepare(in));
  return context_->drawer()->start();
}

std::span<float> LanguageModel::logits(int64_t row) {
  const float* p = context_->output("logits") + row * context_->output_stride("logits");
  // The caller may scale and mask them: they are its own until the next step.
  return {const_cast<float*>(p), static_cast<size_t>(vocab_)};
}

double LanguageModel::bytes_per_token(int64_t position) const {
  // A table used only for lookups is read one row a token; a tied one is streamed by the head.
  double bytes = 0;
  const graph::Graph& g = program_->graph();
  for (graph::ValueId id : g.constants()) {
    const runtime::Weight* w = program_->weight(id);
    if (!w || !w->is_packed) continue;
    bool streamed = false;
    for (graph::NodeId n : g.users(id)) streamed |= g.node(n).op->name != "embedding";
    if (streamed) bytes += static_cast<double>(w->packed.layout.bytes());
  }
  return bytes + static_cast<double>(cache_bytes_per_token_) * static_cast<double>(position);
}

}  // namespace nereid::llm
