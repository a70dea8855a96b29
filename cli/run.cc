// SPDX-License-Identifier: Apache-2.0
// nereid run: answers prompts with a language model.

#include "base/log.h"
#include "cli/adapter_option.h"
#include "cli/answer.h"
#include "cli/chat.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/load_model.h"
#include "cli/model_path.h"
#include "cli/options.h"
#include "llm/run/open_draft.h"

namespace nereid::cli {
namespace {

constexpr const char* kRunNotes =
    "A prompt is plain text: the model goes on where it ends. With --chat it is a message that the model's chat "
    "template\n"
    "turns into a prompt; --chat without a prompt reads messages from stdin, one a line, and keeps the conversation.\n"
    "Several prompts (-p and -f may be repeated) are answered one after another, each on its own.\n"
    "Text in a prompt that names a special token, such as <|im_end|>, becomes that token.\n\n"
    "With --json each answer is one line: {\"prompt_tokens\":N,\"tokens\":[ids],\"text\":\"...\",\n"
    "\"finish_reason\":\"stop|length|cancelled\",\"time_to_first_token_ms\":x,\"tokens_per_second\":y}, and "
    "\"logprobs\", one\n"
    "entry a token, if --logprobs asks for them.\n\n"
    "Exit code: 0 done, 1 the work failed, 2 the command line or an input is wrong, 130 Ctrl-C.";

struct RunArguments {
  LoadArguments load;
  std::vector<std::string> prompts, files, adapters;
  std::string input;  // "-" or nothing
  bool chat = false;
  bool json = false;
  ChatArguments talk;
  SessionArguments session;
  std::string draft;  // a model's path or name
};

void add_run_options(CommandLine& app, RunArguments& a) {
  add_load_options(app, a.load);
  app.add_option("INPUT", a.input, "- reads a prompt from stdin");
  app.add_texts("-p,--prompt", a.prompts, "a prompt; may be repeated");
  app.add_texts("-f,--file", a.files, "a file that is a prompt as a whole (- is stdin); may be repeated")
      ->type_name("FILE");
  app.add_texts("--lora", a.adapters, "a folder with a LoRA adapter, and what it is scaled by; several are summed")
      ->type_name("DIR[:SCALE]");
  app.add_option("--draft", a.draft,
                 "a smaller model of the same vocabulary that guesses what comes next, --draft-tokens at a time "
                 "(default: 4): the same answer in less time");
  app.add_flag("--chat", a.chat, "prompts are messages of a conversation");
  app.add_option("--system", a.talk.system, "the system message of --chat");
  app.add_option("--chat-template", a.talk.chat_template, "the template of --chat: a file, or a built-in one's name");
  app.add_flag("--raw,--no-chat-template", a.talk.raw, "no template, even with --chat");
  app.add_option("--load-session", a.session.load, "go on from a session that --save-session wrote");
  app.add_option("--save-session", a.session.save, "write the conversation with its keys and values to a file");
  app.add_flag("--context-shift", a.session.shifts,
               "where an answer fills the context, forget the older half and go on (what stays is computed anew)");
  app.add_option("--keep", a.session.keep, "tokens of the beginning that --context-shift keeps")
      ->check(Check::range(0, 1 << 30))
      ->capture_default_str();
  app.add_flag("--json", a.json, "one JSON object a prompt on stdout");
  app.footer(kRunNotes);
}

Status check(const RunArguments& a) {
  if (!a.input.empty() && a.input != "-")
    return invalid_argument("'{}' is not understood after the model; a prompt is given with -p, -f or -", a.input);
  if (!a.chat && !(a.talk.system.empty() && a.talk.chat_template.empty()))
    return invalid_argument("--system and --chat-template need --chat");
  if (a.talk.raw && !(a.talk.system.empty() && a.talk.chat_template.empty()))
    return invalid_argument("--raw leaves the chat template out, so --system and --chat-template have no place");
  if (!a.adapters.empty() && !(a.session.load.empty() && a.session.save.empty()))
    return invalid_argument("a session does not say which adapters made it; leave --lora or the session out");
  if (!a.chat && a.prompts.empty() && a.files.empty() && a.input.empty())
    return invalid_argument("there is no prompt; give one with -p TEXT, -f FILE or - (stdin), or use --chat");
  return Status::ok();
}

// In this order: -p, -f, "-".
Result<std::vector<std::string>> read_prompts(const RunArguments& a) {
  std::vector<std::string> prompts = a.prompts;
  std::vector<std::string> files = a.files;
  if (!a.input.empty()) files.push_back(a.input);
  for (const std::string& file : files) {
    NEREID_TRY(std::string text, read_input(file, "the prompt"));
    prompts.push_back(std::move(text));
  }
  return prompts;
}

Result<std::vector<llm::AdapterSource>> read_adapters(const RunArguments& a) {
  std::vector<llm::AdapterSource> sources;
  for (const std::string& text : a.adapters) {
    NEREID_TRY(llm::AdapterSource source, parse_adapter(text));
    sources.push_back(std::move(source));
  }
  return sources;
}

// A draft model and who guesses with it.
struct Draft {
  llm::OpenedDraft opened;
  std::unique_ptr<llm::DraftModel> model;
};

Result<Draft> open_draft(const RunArguments& a, LoadedModel& loaded) {
  Draft draft;
  constexpr llm::DraftOptions kOneAnswer = {.answers = 1};
  NEREID_TRY(draft.opened, llm::open_draft(a.draft, a.load.open, loaded, kOneAnswer));
  for (const std::string& warning : draft.opened.warnings) log_warn("{}", warning);
  NEREID_TRY(draft.model, llm::DraftModel::make(*draft.opened.model, *loaded.model, kOneAnswer));
  return draft;
}

int answer_prompts(LoadedModel& loaded, const std::vector<std::string>& prompts, const SessionArguments& session,
                   const sample::SamplingParams& params, const AnswerOptions& options) {
  llm::Generator generator(*loaded.model);
  generator.set_adapter(options.adapter);
  generator.set_draft(options.draft, options.draft_tokens);
  session.prepare(generator);
  if (!session.load.empty())
    if (const Status s = generator.restore(session.load).status(); !s.is_ok()) return fail(s);
  for (const std::string& text : prompts) {
    const auto ids = llm::encode_prompt(loaded.model->tokenizer(), text);
    const Result<llm::Generated> answer = show_answer(generator, *loaded.model, ids, params, options);
    if (!answer.is_ok()) return fail(answer.status());
    if (answer->finish_reason == llm::FinishReason::kCancelled) return kInterrupted;
  }
  if (!session.save.empty())
    if (const Status s = generator.save(session.save); !s.is_ok()) return fail(s, kFailed);
  return kDone;
}

}  // namespace

int run_command(Arguments args) {
  CommandLine app("Answers prompts with a language model.", "nereid run");
  RunArguments a;
  add_run_options(app, a);
  const SamplingOptions sampling(app);
  if (const auto code = parse(app, args)) return *code;
  const Result<sample::SamplingParams> params = sampling.params();
  if (!params.is_ok()) return fail(params.status());
  if (const Status s = check(a); !s.is_ok()) return fail(s);
  const Result<std::vector<std::string>> prompts = read_prompts(a);
  if (!prompts.is_ok()) return fail(prompts.status());

  const Result<std::vector<llm::AdapterSource>> sources = read_adapters(a);
  if (!sources.is_ok()) return fail(sources.status());

  if (!a.draft.empty()) {
    Result<std::string> path = resolve_model(a.draft);
    if (!path.is_ok()) return fail(path.status());
    a.draft = std::move(path).value();
  }
  ExitCode code = kDone;
  constexpr int32_t kGuesses = 4;
  llm::LoadOptions load;
  AnswerOptions options{.json = a.json, .statistics = !a.load.quiet && !a.json};
  if (!a.draft.empty()) {
    options.draft_tokens = params->draft_tokens > 0 ? params->draft_tokens : kGuesses;
    load.max_outputs = 1 + options.draft_tokens;
  }
  std::optional<LoadedModel> loaded = load_model(a.load, load, &code);
  if (!loaded) return code;
  if (!sources->empty()) {
    const Result<compile::OpenedAdapter> adapter = loaded->model->open_adapter(*sources);
    if (!adapter.is_ok()) return fail(adapter.status());
    options.adapter = adapter->adapter;
  }
  Draft draft;
  if (!a.draft.empty()) {
    Result<Draft> opened = open_draft(a, *loaded);
    if (!opened.is_ok()) return fail(opened.status());
    draft = std::move(opened).value();
    options.draft = draft.model.get();
  }
  if (!a.chat) return answer_prompts(*loaded, *prompts, a.session, *params, options);
  if (!prompts->empty()) return answer_messages(*loaded, *prompts, a.talk, a.session, *params, options);
  return converse(*loaded, a.talk, a.session, *params, options);
}

}  // namespace nereid::cli
