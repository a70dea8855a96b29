// SPDX-License-Identifier: Apache-2.0
#include "llm/run/active_request.h"

#include <algorithm>
#include <limits>

#include "llm/run/generate.h"
#include "llm/sample/best_of.h"
#include "llm/sample/logits.h"

namespace nereid::llm {
namespace {

Status check(const Request& r, const LanguageModel& model) {
  NEREID_RETURN_IF_ERROR(check_prompt(r.prompt, model));
  if (r.choices < 1 || r.choices > model.max_sequences() || r.params.best_of > model.max_sequences())
    return invalid_argument("{} choices of {} were asked for; expected 1 to {}, which run at one time", r.choices,
                            std::max(r.choices, r.params.best_of), model.max_sequences());
  if (r.params.best_of > 0 && r.params.best_of < r.choices)
    return invalid_argument("best_of is {}, but {} choices are wanted; it must be as many or more", r.params.best_of,
                            r.choices);
  if (r.timeout_us < 0) return invalid_argument("the timeout is {} us; expected 0 (none) or more", r.timeout_us);
  if (r.params.is_beam_search() && (r.choices > r.params.beam_width || r.params.beam_width > model.max_sequences()))
    return invalid_argument(
        "{} choices of {} beams were asked for; expected no more choices than beams, and at most {}", r.choices,
        r.params.beam_width, model.max_sequences());
  return Status::ok();
}

}  // namespace

Result<std::unique_ptr<ActiveRequest>> ActiveRequest::make(LanguageModel& model, const AdapterSet& adapters,
                                                           int64_t longest_sequence, Request request,
                                                           OutputFn on_output) {
  NEREID_RETURN_IF_ERROR(check(request, model));
  auto r = std::make_unique<ActiveRequest>();
  if (!request.adapter.empty()) {
    NEREID_TRY(r->adapter, adapters.find(request.adapter));
  }
  const int64_t room = longest_sequence - static_cast<int64_t>(request.prompt.size());
  if (room < 1)
    return invalid_argument("the prompt has {} tokens, more than the {} that the key/value cache holds with an answer",
                            request.prompt.size(), longest_sequence - 1);
  const bool shifts = request.shift_keep >= 0 && !request.params.is_beam_search();
  if (!shifts) request.shift_keep = -1;
  r->most_tokens = answer_limit(model, request.prompt, request.params, shifts);
  if (!shifts) r->most_tokens = std::min(r->most_tokens, room);
  const bool are_beams = request.params.is_beam_search();
  if (are_beams) {
    sample::SamplingParams params = request.params;
    params.max_tokens = static_cast<int32_t>(std::max<int64_t>(r->most_tokens, 1));
    NEREID_TRY(r->beams, BeamAnswer::make(model.samplers(), model.tokenizer(), params, request.prompt));
  }
  const int32_t drawn = are_beams ? 0 : std::max(request.choices, request.params.best_of);
  r->answers.reserve(static_cast<size_t>(drawn));
  for (int32_t i = 0; i < drawn; ++i) {
    sample::SamplingParams params = request.params;
    params.seed += static_cast<uint64_t>(i);
    if (drawn > request.choices) params.logprobs = std::max(params.logprobs, 0);
    NEREID_TRY(Drawer drawer, model.samplers().make(params));
    r->answers.emplace_back(std::move(drawer), model.tokenizer(), request.prompt, r->most_tokens);
  }
  r->open_answers = are_beams ? request.choices : drawn;
  if (request.prompt_logprobs) r->prompt.resize(request.prompt.size() - 1);
  r->request = std::move(request);
  r->on_output = std::move(on_output);
  return r;
}

std::vector<Output> ActiveRequest::best_answers() {
  std::vector<double> scores(answers.size(), 0);
  for (const Output& output : kept) {
    double& sum = scores[static_cast<size_t>(output.choice)];
    if (output.token >= 0) sum += output.sample.logprob;
    if (!output.status.is_ok()) sum = -std::numeric_limits<double>::infinity();
  }
  for (size_t i = 0; i < answers.size(); ++i)
    scores[i] = sample::answer_score(scores[i], static_cast<int64_t>(answers[i].tokens().size()));
  std::vector<Output> told;
  int32_t choice = 0;
  for (int32_t answer : sample::best_answers(scores, static_cast<size_t>(request.choices))) {
    for (Output& output : kept) {
      if (output.choice != answer) continue;
      told.push_back(std::move(output));
      told.back().choice = choice;
      output.choice = -1;
    }
    ++choice;
  }
  kept.clear();
  return told;
}

void ActiveRequest::take_prompt_logits(int64_t position, std::span<const float> logits) {
  sample::SampleResult& result = prompt[static_cast<size_t>(position)];
  result.token = request.prompt[static_cast<size_t>(position) + 1];
  std::vector<float> scratch;
  std::vector<sample::Candidate> best;
  sample::add_logprobs(logits, request.params.logprobs, &scratch, &best, &result);
}

}  // namespace nereid::llm
