// SPDX-License-Identifier: Apache-2.0
#include "llm/run/generate.h"

#include <algorithm>
#include <numeric>

#include "base/clock.h"
#include "llm/run/answer.h"
#include "llm/run/session_file.h"
#include "llm/schedule/context_shift.h"

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

int64_t answer_limit(const LanguageModel& model, std::span<const int32_t> prompt, const sample::SamplingParams& params,
                     bool shifts) {
  if (shifts) return params.max_tokens;
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

Status Generator::save(const std::string& path, std::string_view note) const {
  if (adapter_) return unsupported("a session does not say which adapters made it; it cannot be saved");
  return save_session(path, model_, sequence_, held_, note);
}

Result<std::string> Generator::restore(const std::string& path) {
  held_.clear();
  NEREID_TRY(Session session, load_session(path, model_, sequence_));
  held_ = std::move(session.tokens);
  return std::move(session.note);
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

// `token` finds no place behind what is held.
Status Generator::shift(int32_t token) {
  std::vector<int32_t> tokens = held_;
  tokens.push_back(token);
  schedule::shift_context(&tokens, shift_keep_);
  held_.erase(std::ranges::mismatch(held_, std::span(tokens).first(tokens.size() - 1)).in1, held_.end());
  return prefill(tokens);
}

// The logits of the token are row 0, those of the guesses follow.
Status Generator::step(int32_t token, std::span<const int32_t> guesses) {
  if (shift_keep_ >= 0 && static_cast<int64_t>(held_.size()) == model_.context_tokens()) return shift(token);
  const size_t first = held_.size(), n = 1 + guesses.size();
  held_.push_back(token);
  held_.insert(held_.end(), guesses.begin(), guesses.end());
  std::vector<int32_t> positions(n), rows(n);
  std::iota(positions.begin(), positions.end(), static_cast<int32_t>(first));
  std::iota(rows.begin(), rows.end(), 0);
  const std::vector<int32_t> sequences(n, sequence_);
  const std::vector<const runtime::Adapter*> adapters(adapter_ ? n : 0, adapter_.get());
  const Status status = model_.step({std::span(held_).subspan(first), positions, sequences, rows, adapters});
  if (!status.is_ok()) held_.resize(first);
  return status;
}

// What the draft thinks comes next, as far as there is room.
std::vector<int32_t> Generator::guess(const Answer& answer) {
  std::vector<int32_t> guesses;
  const int64_t room = model_.context_tokens() - static_cast<int64_t>(held_.size()) - 1;
  const int64_t most = std::min<int64_t>({draft_tokens_, model_.max_outputs() - 1, room});
  if (draft_ == nullptr || most < 1) return guesses;
  const DraftAsk ask{.answer = static_cast<uint64_t>(sequence_),
                     .history = answer.history(),
                     .drawer = &answer.sampler(),
                     .most = static_cast<int32_t>(most)};
  std::vector<int32_t>* const out = &guesses;
  if (!draft_->guess({&ask, 1}, {&out, 1}).is_ok()) guesses.clear();  // a help, no more
  return guesses;
}

Result<Generated> Generator::generate(std::span<const int32_t> prompt, const sample::SamplingParams& params,
                                      const PieceFn& on_piece) {
  const int64_t start_ns = now_ns();
  NEREID_RETURN_IF_ERROR(check_prompt(prompt, model_));
  NEREID_TRY(Drawer drawer, model_.samplers().make(params));
  if (draft_) draft_->begin(static_cast<uint64_t>(sequence_));

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

  Answer answer(std::move(drawer), model_.tokenizer(), prompt, answer_limit(model_, prompt, params, shift_keep_ >= 0));
  int64_t first_ns = 0;
  bool wanted = true;  // on_piece has not asked to end
  const auto take = [&](const Output& out) {
    result.text += out.text;
    if (out.is_last) result.finish_reason = out.finish_reason;
    if (on_piece && wanted && (out.token >= 0 || !out.text.empty()))
      wanted = on_piece({out.text, out.token, out.token >= 0 ? &out.sample : nullptr});
  };
  std::vector<int32_t> guesses;  // that ran in the last step
  size_t right = 0;              // of them, so far
  const auto drop_wrong = [&] {
    held_.resize(held_.size() - (guesses.size() - right));
    guesses.clear();
    right = 0;
  };
  while (true) {
    const Output out = answer.draw(model_.logits(static_cast<int64_t>(right)));
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
    if (right < guesses.size() && guesses[right] == out.token) {
      ++right;
      ++result.accepted_tokens;
      continue;
    }
    drop_wrong();
    std::vector<int32_t> next = guess(answer);
    if (const Status s = step(out.token, next); s.code() == StatusCode::kCancelled) {
      take(answer.end(FinishReason::kCancelled));
      break;
    } else if (!s.is_ok()) {
      return s;
    }
    guesses = std::move(next);
    result.guessed_tokens += std::ssize(guesses);
  }
  drop_wrong();
  result.decode_ms = ms_since(first_ns);
  result.tokens.assign(answer.tokens().begin(), answer.tokens().end());
  return result;
}

}  // namespace nereid::llm
