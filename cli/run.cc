// SPDX-License-Identifier: Apache-2.0
// nereid run: answers prompts with a language model.
#include <CLI/CLI.hpp>

#include "base/file.h"
#include "cli/answer.h"
#include "cli/command.h"
#include "cli/load_model.h"
#include "cli/options.h"

namespace nereid::cli {
namespace {

int answer_prompts(LoadedModel& loaded, const std::vector<std::string>& prompts, const sample::SamplingParams& params,
                   const AnswerOptions& options) {
  llm::Generator generator(*loaded.model);
  for (const std::string& text : prompts) {
    const auto ids = loaded.model->tokenizer().encode(text, {.add_special = true, .parse_special = true});
    generator.reset();
    const Result<llm::Generated> answer = show_answer(generator, *loaded.model, ids, params, options);
    if (!answer.is_ok()) return fail(answer.status());
    if (answer->finish_reason == llm::FinishReason::kCancelled) return kInterrupted;
  }
  return kDone;
}

}  // namespace

int run_command(Arguments args) {
  CLI::App app("Answers prompts with a language model.", "nereid run");
  LoadArguments load;
  std::vector<std::string> prompts;
  bool json = false;
  add_load_options(app, load);
  add_texts(app, "-p,--prompt", prompts, "a prompt, taken as plain text; may be given several times");
  app.add_flag("--json", json, "one JSON object a prompt on stdout");
  const SamplingOptions sampling(app);
  if (const auto code = parse(app, args)) return *code;
  const Result<sample::SamplingParams> params = sampling.params();
  if (!params.is_ok()) return fail(params.status());
  ExitCode code = kDone;
  std::optional<LoadedModel> loaded = load_model(load, {}, &code);
  if (!loaded) return code;
  return answer_prompts(*loaded, prompts, *params, {.json = json, .statistics = !load.quiet && !json});
}

}  // namespace nereid::cli
