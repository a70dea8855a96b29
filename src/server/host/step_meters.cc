// SPDX-License-Identifier: Apache-2.0
#include "server/host/step_meters.h"

namespace nereid::server {

using metrics::Metric;

StepMeters::StepMeters(metrics::Registry& registry, const std::string& model)
    : seconds_(registry.histogram(Metric::kStepSeconds, {model})),
      model_seconds_(registry.histogram(Metric::kStepModelSeconds, {model})),
      prompt_tokens_(registry.histogram(Metric::kStepTokens, {model, "prompt"})),
      answer_tokens_(registry.histogram(Metric::kStepTokens, {model, "answer"})),
      sequences_(registry.histogram(Metric::kStepSequences, {model})),
      drafts_(registry.counter(Metric::kDraftTokens, {model})),
      accepted_(registry.counter(Metric::kAcceptedTokens, {model})) {}

void StepMeters::observe(const llm::IterationStats& step) {
  seconds_.observe(1e-6 * static_cast<double>(step.latency_us));
  model_seconds_.observe(1e-6 * static_cast<double>(step.model_us));
  if (step.prompt_tokens > 0) prompt_tokens_.observe(static_cast<double>(step.prompt_tokens));
  if (step.answer_tokens > 0) answer_tokens_.observe(static_cast<double>(step.answer_tokens));
  sequences_.observe(static_cast<double>(step.prompt_sequences + step.answer_sequences));
  drafts_.add(step.draft_tokens);
  accepted_.add(step.accepted_tokens);
}

}  // namespace nereid::server
