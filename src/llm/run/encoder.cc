// SPDX-License-Identifier: Apache-2.0
#include "llm/run/encoder.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "llm/run/encoder_interface.h"
#include "llm/run/pool_rows.h"

namespace nereid::llm {
namespace {

constexpr int64_t kStepTokens = 1024;

// How many of two texts' tokens stay where `room` is left: the longer one is cut first, as the tokenizers of Hugging
// Face do it ("longest first").
std::pair<int64_t, int64_t> cut_both(int64_t a, int64_t b, int64_t room) {
  const bool swapped = a > b;
  if (swapped) std::swap(a, b);
  b = std::min(b, a > room ? a : std::max(a, room - a));
  if (a + b > room) {
    a = room / 2;
    b = a + room % 2;
  }
  if (swapped) std::swap(a, b);
  return {a, b};
}

void append(std::vector<int32_t>* to, std::span<const int32_t> from) {
  to->insert(to->end(), from.begin(), from.end());
}

}  // namespace

Status Encoder::read_info(const engine::EngineFile& file, const EncoderOptions& options) {
  info_ = file.info();
  const Result<const Json*> model = json_object(info_, "model");
  const Result<const Json*> encode = json_object(info_, "encode");
  if (!model.is_ok() || !encode.is_ok()) return invalid_argument("it is no encoder's");
  NEREID_TRY(use_, compile::EncodeUse::from_json(**encode));
  NEREID_TRY(vocab_, json_int(**model, "vocab"));
  NEREID_TRY(hidden_, json_int(**model, "hidden"));
  NEREID_TRY(types_, json_int(**model, "types"));
  NEREID_TRY(labels_, json_int(**model, "labels"));
  NEREID_TRY(const int64_t context, json_int(**model, "max_context"));
  if (context < 1 || hidden_ < 1 || vocab_ < 1 || labels_ < 0 || (labels_ == 0) == use_.pooling.empty())
    return invalid_argument("its sizes make no sense");
  const int64_t own = use_.max_tokens > 0 ? std::min(use_.max_tokens, context) : context;
  if (options.max_tokens < 0 || options.max_tokens > context)
    return invalid_argument("texts of {} tokens were asked for, but the model is made for at most {}",
                            options.max_tokens, context);
  max_tokens_ = options.max_tokens > 0 ? options.max_tokens : own;
  if (options.step_tokens < 0 || options.step_tokens > INT32_MAX || options.step_texts < 1 ||
      options.step_texts > INT32_MAX)
    return invalid_argument("steps of {} tokens and {} texts were asked for; at least one of each belongs to a step",
                            options.step_tokens, options.step_texts);
  step_tokens_ = std::max(options.step_tokens > 0 ? options.step_tokens : kStepTokens, max_tokens_);
  step_texts_ = options.step_texts;
  width_ = labels_ > 0 ? labels_ : hidden_ * static_cast<int64_t>(use_.pooling.size());
  return Status::ok();
}

Result<std::unique_ptr<Encoder>> Encoder::load(const engine::EngineFile& file, const EncoderOptions& options,
                                               ThreadPool& pool) {
  std::unique_ptr<Encoder> e(new Encoder);
  const std::string engine = "the engine '" + file.path() + "'";
  NEREID_RETURN_IF_ERROR(e->read_info(file, options).with(engine));
  NEREID_TRY(e->program_, runtime::Program::load(file, options.isa, pool));
  const EncoderShape shape{
      .max_tokens = e->max_tokens_, .hidden = e->hidden_, .labels = e->labels_, .has_types = e->types_ > 0};
  NEREID_TRY(e->output_, check_encoder_interface(e->program_->graph(), shape).with(engine));
  runtime::ContextOptions context;
  context.bounds = {{"tokens", e->step_tokens_}, {"boundaries", e->step_texts_ + 1}, {"outputs", e->step_texts_}};
  NEREID_TRY(e->context_, runtime::Context::create(e->program_, pool, context));
  e->tokens_symbol_ = e->context_->symbol("tokens");
  e->boundaries_symbol_ = e->context_->symbol("boundaries");
  if (e->classifies()) e->outputs_symbol_ = e->context_->symbol("outputs");
  NEREID_TRY(const Metadata metadata, Metadata::parse(file.metadata()).with("the engine's metadata"));
  NEREID_TRY(token::TokenizerSpec spec, token::TokenizerSpec::from_metadata(metadata));
  NEREID_TRY(e->tokenizer_, token::make_tokenizer(std::move(spec)));
  return e;
}

Result<EncodeTokens> Encoder::prepare(const EncodeInput& input) const {
  const token::TokenizerSpec& spec = tokenizer_->spec();
  EncodeTokens made;
  std::vector<int32_t> first, second;
  int64_t around = 0;
  const bool is_text = input.tokens.empty();
  const bool is_pair = is_text && input.second.has_value();
  if (is_text) {
    constexpr token::EncodeOptions kPlain = {.add_special = false};
    const std::string prompted = is_pair ? std::string() : use_.default_prompt + input.text;
    NEREID_TRY(first, tokenizer_->encode_checked(is_pair ? input.text : prompted, kPlain));
    around = static_cast<int64_t>(spec.prefix_ids.size() + spec.suffix_ids.size());
    if (is_pair) {
      NEREID_TRY(second, tokenizer_->encode_checked(*input.second, kPlain));
      around += static_cast<int64_t>(spec.middle_ids.size());
    }
  } else {
    first = input.tokens;
  }
  int64_t a = static_cast<int64_t>(first.size()), b = static_cast<int64_t>(second.size());
  if (a + b + around > max_tokens_) {
    if (!input.truncates)
      return invalid_argument(
          "the text has {} tokens, but the model reads at most {}; shorten it, or ask for its end to be left out",
          a + b + around, max_tokens_);
    const int64_t room = std::max<int64_t>(max_tokens_ - around, 0);
    if (is_pair) {
      std::tie(a, b) = cut_both(a, b, room);
    } else {
      a = std::min(a, room);
    }
  }
  first.resize(static_cast<size_t>(a));
  second.resize(static_cast<size_t>(b));
  if (is_text) append(&made.ids, spec.prefix_ids);
  append(&made.ids, first);
  if (is_pair) append(&made.ids, spec.middle_ids);
  made.second = static_cast<int64_t>(made.ids.size());
  append(&made.ids, second);
  if (is_text) append(&made.ids, spec.suffix_ids);
  if (!is_pair) made.second = static_cast<int64_t>(made.ids.size());
  if (made.ids.empty()) return invalid_argument("the text is empty: it has no tokens");
  if (static_cast<int64_t>(made.ids.size()) > max_tokens_)
    return invalid_argument("the model reads at most {} tokens, which are not enough for what stands around a text",
                            max_tokens_);
  for (const int32_t id : made.ids)
    if (id < 0 || id >= vocab_) return invalid_argument("token {} is outside the vocabulary of {}", id, vocab_);
  return made;
}

Status Encoder::check(std::span<const EncodeTokens* const> texts) const {
  if (texts.empty() || static_cast<int64_t>(texts.size()) > step_texts_)
    return invalid_argument("a step takes 1 to {} texts, found {}", step_texts_, texts.size());
  int64_t total = 0;
  for (const EncodeTokens* text : texts) {
    const auto size = static_cast<int64_t>(text->ids.size());
    if (size < 1 || size > max_tokens_)
      return invalid_argument("a text has 1 to {} tokens, found {}", max_tokens_, size);
    for (const int32_t id : text->ids)
      if (id < 0 || id >= vocab_) return invalid_argument("token {} is outside the vocabulary of {}", id, vocab_);
    total += size;
  }
  if (total > step_tokens_) return invalid_argument("a step takes at most {} tokens, found {}", step_tokens_, total);
  return Status::ok();
}

Result<std::vector<std::vector<float>>> Encoder::run(std::span<const EncodeTokens* const> texts) {
  NEREID_RETURN_IF_ERROR(check(texts));
  auto* tokens = context_->input<int32_t>("tokens");
  auto* positions = context_->input<int32_t>("positions");
  auto* starts = context_->input<int32_t>("starts");
  int32_t* types = types_ > 0 ? context_->input<int32_t>("types") : nullptr;
  int32_t* rows = classifies() ? context_->input<int32_t>("output_rows") : nullptr;
  const auto second_type =
      static_cast<int32_t>(std::min<int64_t>(tokenizer_->spec().second_type, std::max<int64_t>(types_ - 1, 0)));
  int32_t at = 0;
  for (size_t s = 0; s < texts.size(); ++s) {
    starts[s] = at;
    if (rows != nullptr) rows[s] = at;
    for (size_t i = 0; i < texts[s]->ids.size(); ++i, ++at) {
      tokens[at] = texts[s]->ids[i];
      positions[at] = static_cast<int32_t>(i);
      if (types != nullptr) types[at] = static_cast<int64_t>(i) >= texts[s]->second ? second_type : 0;
    }
  }
  starts[texts.size()] = at;
  const auto count = static_cast<int64_t>(texts.size());
  context_->set_size(tokens_symbol_, at);
  context_->set_size(boundaries_symbol_, count + 1);
  if (outputs_symbol_ >= 0) context_->set_size(outputs_symbol_, count);
  NEREID_RETURN_IF_ERROR(context_->run());

  std::vector<std::vector<float>> results;
  results.reserve(texts.size());
  for (int64_t s = 0; s < count; ++s) {
    results.push_back(classifies() ? scores(s) : pooled(starts[s], starts[s + 1] - starts[s]));
    if (!std::ranges::all_of(results.back(), [](float v) { return std::isfinite(v); }))
      return internal("the model gives numbers that are none (NaN or infinite); its weights are damaged");
  }
  return results;
}

std::vector<float> Encoder::pooled(int64_t first, int64_t size) const {
  std::vector<float> values;
  values.reserve(static_cast<size_t>(width_));
  const int64_t stride = context_->output_stride(output_);
  for (const compile::Pooling pooling : use_.pooling)
    pool_rows(pooling, context_->output(output_) + first * stride, stride, size, hidden_, &values);
  if (use_.normalizes) normalize_length(&values);
  return values;
}

std::vector<float> Encoder::scores(int64_t row) const {
  const float* values = context_->output(output_) + row * context_->output_stride(output_);
  std::vector<float> scores(values, values + labels_);
  if (use_.is_sigmoid)
    for (float& v : scores) v = static_cast<float>(1 / (1 + std::exp(-static_cast<double>(v))));
  return scores;
}

}  // namespace nereid::llm
