// SPDX-License-Identifier: Apache-2.0
// nereid eval: how good a model is, on a text.

#include "base/json.h"
#include "base/progress.h"
#include "cli/answer.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/load_model.h"
#include "cli/perplexity.h"

namespace nereid::cli {
namespace {

Result<Perplexity> evaluate(LoadedModel& loaded, std::string_view text, bool quiet) {
  const std::vector<int32_t> tokens =
      loaded.model->tokenizer().encode(text, {.add_special = true, .parse_special = false});
  Progress bar({.what = "windows", .total = static_cast<int64_t>(tokens.size()) / kPerplexityWindow, .silent = quiet});
  NEREID_TRY(const Perplexity result,
             perplexity(*loaded.model, *loaded.pool, tokens, [&](int64_t done, int64_t) { bar.set(done); }));
  bar.finish();
  return result;
}

}  // namespace

int eval_command(Arguments args) {
  CommandLine app("Measures how well a language model foretells a text.", "nereid eval");
  LoadArguments load;
  std::string file;
  bool json = false;
  add_load_options(app, load);
  app.add_option("--perplexity", file, "the text; windows of 512 tokens, of which the second half is scored")
      ->required();
  app.add_flag("--json", json, "{\"perplexity\":x,\"tokens\":N} on stdout; N tokens were scored");
  if (const auto code = parse(app, args)) return *code;
  const Result<std::string> text = read_input(file, "the text");
  if (!text.is_ok()) return fail(text.status());

  ExitCode code = kDone;
  std::optional<LoadedModel> loaded =
      load_model(load, {.step_tokens = kPerplexityWindow, .max_outputs = kPerplexityOutputs}, &code);
  if (!loaded) return code;
  const Result<Perplexity> result = evaluate(*loaded, *text, load.quiet);
  if (!result.is_ok()) return fail(result.status());
  const Status written =
      write_out(json ? Json{{"perplexity", result->value}, {"tokens", result->tokens}}.dump() + "\n"
                     : fmt::format("perplexity {:.4f} over {} tokens\n", result->value, result->tokens));
  return written.is_ok() ? kDone : fail(written);
}

}  // namespace nereid::cli
