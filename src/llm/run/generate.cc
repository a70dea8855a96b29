// SPDX-License-Identifier: Apache-2.0
#include "llm/run/generate.h"

#include <algorithm>
#include <numeric>

#include "base/clock.h"
#include "llm/sample/stop_matcher.h"

namespace nereid::llm {
namespace {

double ms_since(int64_t start_ns) {
  return static_cast<double>(now_ns() - start_ns) / 1e6;
}

double per_second(int64_t count, double ms) {
  return count > 0 && ms > 0 ? static_cast<double>(count) * 1e3 / ms : 0;
}

// From tokens to text that is certain: whole characters, and nothing that may yet become a stop text.
class AnswerText {
 public:
  AnswerText(const token::Tokenizer& tokenizer, std::vector<std::string> stops)
      : characters_(tokenizer), stops_(std::move(stops)) {
    characters_.continue_text();
  }
  std::string push(int32_t token) { return stops_.push(characters_.push(token)); }
  bool is_stopped() const { return stops_.is_stopped(); }
  std::string finish() {
    if (is_stopped()) return "";
    std::string rest = stops_.push(characters_.flush());
    return is_stopped() ? rest : rest + stops_.finish();
  }

 private:
  token::IncrementalDetokenizer characters_;
  sample::StopMatcher stops_;
};

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

}  // namespace

std::string_view finish_reason_name(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kCancelled:
      return "cancelled";
  }
  return "";
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
  for (size_t done = held_.size(); done < prompt.size(); done = held_.size()) {
    if (stop_()) return cancelled("the answer was stopped");
    const size_t n = std::min(prompt.size() - done, static_cast<size_t>(model_.step_tokens()));
    positions.resize(n);
    std::iota(positions.begin(), positions.end(), static_cast<int32_t>(done));
    sequences.assign(n, sequence_);
    const auto last = static_cast<int32_t>(n - 1);
    NEREID_RETURN_IF_ERROR(model_.step({prompt.subspan(done, n), positions, sequences, {&last, 1}}));
    held_.insert(held_.end(), prompt.begin() + static_cast<ptrdiff_t>(done),
                 prompt.begin() + static_cast<ptrdiff_t>(done + n));
  }
  return Status::ok();
}

Status Generator::step(int32_t token) {
  const auto position = static_cast<int32_t>(held_.size());
  const int32_t row = 0;
  NEREID_RETURN_IF_ERROR(model_.step({{&token, 1}, {&position, 1}, {&sequence_, 1}, {&row, 1}}));
  held_.push_back(token);
  return Status::ok();
}

Result<Generated> Generator::generate(std::span<const int32_t> prompt, const sample::SamplingParams& params,
                                      const PieceFn& on_piece) {
  const int64_t start_ns = now_ns();
  NEREID_RETURN_IF_ERROR(check_prompt(prompt, model_));
  const token::Tokenizer& tokenizer = model_.tokenizer();
  NEREID_TRY(sample::Sampler sampler, sample::Sampler::make(params, tokenizer.spec().end_of_generation));

  // The last token is always computed: its logits are what the answer begins with.
  const auto differs = std::mismatch(held_.begin(), held_.end(), prompt.begin(), prompt.end() - 1).first;
  held_.erase(differs, held_.end());
  Generated answer;
  answer.prompt_tokens = static_cast<int64_t>(prompt.size());
  answer.reused_tokens = static_cast<int64_t>(held_.size());
  answer.finish_reason = FinishReason::kLength;
  if (params.max_tokens == 0) return answer;

  if (const Status s = prefill(prompt); s.code() == StatusCode::kCancelled) {
    answer.finish_reason = FinishReason::kCancelled;
    return answer;
  } else if (!s.is_ok()) {
    return s;
  }
  answer.prefill_ms = ms_since(start_ns);

  AnswerText text(tokenizer, params.stop);
  std::vector<int32_t> history(prompt.begin(), prompt.end());
  int64_t first_ns = 0;
  bool wanted = true;  // on_piece has not asked to end
  while (true) {
    NEREID_TRY(const sample::SampleResult drawn, sampler.sample(model_.logits(0), history));
    if (first_ns == 0) {
      first_ns = now_ns();
      answer.time_to_first_token_ms = static_cast<double>(first_ns - start_ns) / 1e6;
    }
    if (tokenizer.is_end_of_generation(drawn.token)) {
      answer.finish_reason = FinishReason::kStop;
      break;
    }
    answer.tokens.push_back(drawn.token);
    history.push_back(drawn.token);
    const std::string piece = text.push(drawn.token);
    answer.text += piece;
    if (on_piece) wanted = on_piece({piece, drawn.token, &drawn});
    if (text.is_stopped()) {
      answer.finish_reason = FinishReason::kStop;
      break;
    }
    if (!wanted || stop_()) {
      answer.finish_reason = FinishReason::kCancelled;
      break;
    }
    if (static_cast<int64_t>(answer.tokens.size()) >= params.max_tokens ||
        static_cast<int64_t>(held_.size()) >= model_.context_tokens())
      break;
    NEREID_RETURN_IF_ERROR(step(drawn.token));
  }
  answer.decode_ms = ms_since(first_ns);
  if (const std::string rest = text.finish(); !rest.empty()) {
    answer.text += rest;
    if (on_piece && wanted) (void)on_piece({rest, -1, nullptr});
  }
  return answer;
}

}  // namespace nereid::llm
