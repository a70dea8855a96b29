// SPDX-License-Identifier: Apache-2.0
#include "llm/run/generate.h"

#include <algorithm>
#include <numeric>

#include "base/clock.h"
#include "llm/run/answer.h"

namespace nereid::llm {
namespace {

double ms_since(int64_t start_ns) {
  return static_cast<double>(now_ns() - start_ns) / 1e6;
}

double per_second(int64_t count, double ms) {
  return count > 0 && ms > 0 ? static_cast<double>(count) * 1e3 / ms : 0;
}

}  // namespace

Status check_prompt(std::span<const int32_t> prompt, const LanguageModel& model) {
  if (prompt.empty()) return invalid_argument("the prompt is empty, and the model adds no token that begins a text");
  if (static_cast<int64_t>(prompt.size()) > model.context_tokens())
    return invalid_argument("the prompt has {} tokens, more than the context of {}", prompt.size(),
                            model.context_tokens());
  for (int32_t token : prompt)
    if (token < 0 || token >= model.vocab())
      return invalid_argument("token {} of the prompt is outside the vocabulary of {}", token, model.vocab());
  return Status::ok();
}

int64_t answer_limit(const LanguageModel& model, std::span<const int32_t> prompt,
                     const sample::SamplingParams& params) {
  // The last token is drawn, but never run: it needs no place in the context.
  return std::min<int64_t>(params.max_tokens, model.context_tokens() - static_cast<int64_t>(prompt.size()) + 1);
}

std::vector<int32_t> encode_prompt(const token::Tokenizer& tokenizer, std::string_view text) {
  std::vector<int32_t> ids = tokenizer.encode(text, {.add_special = true, .parse_special = true});
  ids.resize(ids.size() - std::min(ids.size(), tokenizer.spec().suffix_ids.size()));
  return ids;
}

double Generated::tokens_per_second() const {
  return per_second(static_cast<int64_t>(tokens.size()) - 1, decode_ms);
}

double Generated::prefill_tokens_per_second() const {
  return per_second(prompt_tokens - reused_tokens, prefill_ms);
}

Status Generator::prefill(std::span<const int32_t> prompt) {
  std::vector<int32_t> positions, sequences;
  std::vector<const runtime::Adapter*> adapters;
  for (size_t done = held_.size(); done < prompt.size(); done = held_.size()) {
    if (stop_()) return cancelled("the answer was stopped");
    const size_t n = std::min(prompt.size() - done, static_cast<size_t>(model_.step_tokens()));
    positions.resize(n);
    std::iota(positions.begin(), positions.end(), static_cast<int32_t>(done));
    sequences.assign(n, sequence_);
    if (adapter_) adapters.assign(n, adapter_.get());
    const auto last = static_cast<int32_t>(n - 1);
    NEREID_RETURN_IF_ERROR(model_.step({prompt.subspan(done, n), positions, sequences, {&last, 1}, adapters}));
    held_.insert(held_.end(), prompt.begin() + static_cast<ptrdiff_t>(done),
                 prompt.begin() + static_cast<ptrdiff_t>(done + n));
  }
  return Status::ok();
}

Status Generator::step(int32_t token) {
  const auto position = static_cast<int32_t>(held_.size());
  const int32_t row = 0;
  const runtime::Adapter* adapter = adapter_.get();
  NEREID_RETURN_IF_ERROR(model_.step(
      {{&token, 1}, {&position, 1}, {&sequence_, 1}, {&row, 1}, {&adapter, adapter ? size_t{1} : size_t{0}}}));
  held_.push_back(token);
  return Status::ok();
}

Result<Generated> Generator::generate(std::span<const int32_t> prompt, const sample::SamplingParams& params,
                                      const PieceFn& on_piece) {
  const int64_t start_ns = now_ns();
  NEREID_RETURN_IF_ERROR(check_prompt(prompt, model_));
  NEREID_TRY(Drawer drawer, model_.samplers().make(params));

  // The last token is always computed: its logits are what the answer begins with.
  const auto differs = std::mismatch(held_.begin(), held_.end(), prompt.begin(), prompt.end() - 1).first;
  held_.erase(differs, held_.end());
  Generated result;
  result.prompt_tokens = static_cast<int64_t>(prompt.size());
  result.reused_tokens = static_cast<int64_t>(held_.size());
  result.finish_reason = FinishReason::kLength;
  if (params.max_tokens == 0) return result;

  if (const Status s = prefill(prompt); s.code() == StatusCode::kCancelled) {
    result.finish_reason = FinishReason::kCancelled;
    return result;
  } else if (!s.is_ok()) {
    return s;
  }
  result.prefill_ms = ms_since(start_ns);

  Answer answer(std::move(drawer), model_.tokenizer(), prompt, answer_limit(model_, prompt, params));
  int64_t first_ns = 0;
  bool wanted = true;  // on_piece has not asked to end
  const auto take = [&](const Output& out) {
    result.text += out.text;
    if (out.is_last) result.finish_reason = out.finish_reason;
    if (on_piece && wanted && (out.token >= 0 || !out.text.empty()))
      wanted = on_piece({out.text, out.token, out.token >= 0 ? &out.sample : nullptr});
  };
  while (true) {
    const Output out = answer.draw(model_.logits(0));
    if (!out.status.is_ok()) return out.status;
    if (first_ns == 0) {
      first_ns = now_ns();
      result.time_to_first_token_ms = static_cast<double>(first_ns - start_ns) / 1e6;
    }
    take(out);
    if (out.is_last) break;
    if (!wanted || stop_()) {
      take(answer.end(FinishReason::kCancelled));
      break;
    }
    NEREID_RETURN_IF_ERROR(step(out.token));
  }
  result.decode_ms = ms_since(first_ns);
  result.tokens.assign(answer.tokens().begin(), answer.tokens().end());
  return result;
}

}  // namespace nereid::llm
