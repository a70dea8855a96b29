// SPDX-License-Identifier: Apache-2.0
#include "cli/answer.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "base/log.h"

namespace nereid::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

// JSON has no -inf.
OrderedJson number_or_null(float value) {
  return std::isfinite(value) ? OrderedJson(value) : OrderedJson(nullptr);
}

OrderedJson logprob_json(const token::Tokenizer& tokenizer, int32_t token, float logprob) {
  return {{"token", token},
          {"text", tokenizer.decode({&token, 1}, {.skip_special = false})},
          {"logprob", number_or_null(logprob)}};
}

OrderedJson sample_json(const token::Tokenizer& tokenizer, const sample::SampleResult& sample) {
  OrderedJson entry = logprob_json(tokenizer, sample.token, sample.logprob);
  entry["top"] = OrderedJson::array();
  for (const sample::TokenLogprob& t : sample.top) entry["top"].push_back(logprob_json(tokenizer, t.token, t.logprob));
  return entry;
}

void log_statistics(const llm::Generated& a) {
  const std::string guessed =
      a.guessed_tokens ? fmt::format(", {} of {} guesses right", a.accepted_tokens, a.guessed_tokens) : "";
  const std::string reused = a.reused_tokens ? fmt::format(" ({} of them held)", a.reused_tokens) : "";
  log_info("{} prompt tokens{} at {:.0f}/s, first token after {:.1f} ms; {} tokens at {:.1f}/s{}; ended by {}",
           a.prompt_tokens, reused, a.prefill_tokens_per_second(), a.time_to_first_token_ms, a.tokens.size(),
           a.tokens_per_second(), guessed, llm::finish_reason_name(a.finish_reason));
}

}  // namespace

Status write_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return Status::ok();
  return unavailable("could not write to the standard output: {}", std::strerror(errno));
}

OrderedJson answer_json(const llm::Generated& a) {
  return {{"prompt_tokens", a.prompt_tokens},
          {"tokens", a.tokens},
          {"text", a.text},
          {"finish_reason", llm::finish_reason_name(a.finish_reason)},
          {"time_to_first_token_ms", a.time_to_first_token_ms},
          {"tokens_per_second", a.tokens_per_second()}};
}

Result<llm::Generated> show_answer(llm::Generator& generator, const llm::LanguageModel& model,
                                   std::span<const int32_t> prompt, const sample::SamplingParams& params,
                                   const AnswerOptions& options, const std::function<bool()>& go_on) {
  Status written;
  OrderedJson logprobs = OrderedJson::array();
  const auto on_piece = [&](const llm::Piece& piece) {
    if (!options.json && !piece.text.empty()) written = write_out(piece.text);
    if (params.logprobs >= 0 && piece.sample) logprobs.push_back(sample_json(model.tokenizer(), *piece.sample));
    return written.is_ok() && (!go_on || go_on());
  };
  NEREID_TRY(llm::Generated answer, generator.generate(prompt, params, on_piece));
  NEREID_RETURN_IF_ERROR(written);
  std::string end = "\n";
  if (options.json) {
    OrderedJson object = answer_json(answer);
    if (params.logprobs >= 0) object["logprobs"] = std::move(logprobs);
    end = object.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
  }
  NEREID_RETURN_IF_ERROR(write_out(end));
  if (options.statistics) log_statistics(answer);
  return answer;
}

}  // namespace nereid::cli
