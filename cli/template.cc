// SPDX-License-Identifier: Apache-2.0
// nereid template: what a chat template makes of messages, byte for byte.

#include "cli/answer.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/input.h"
#include "cli/model_path.h"
#include "compile/tokenizer_source.h"
#include "llm/run/conversation.h"

namespace nereid::cli {
namespace {

struct TemplateArguments {
  std::string model;
  std::string file;  // of the template
  std::string messages, tools, variables;
  std::optional<std::string> bos_token, eos_token;
  std::string now;
  bool add_generation_prompt = false;
};

Result<chat::OrderedJson> read_json(const std::string& path, std::string_view what) {
  NEREID_TRY(const std::string text, read_input(path, what));
  return chat::parse_ordered_json(text).with(path);
}

// The template's text, and what the model names its ends of a text.
Result<std::string> read_template(const TemplateArguments& a, chat::RenderInput* input) {
  std::string source;
  if (!a.model.empty()) {
    NEREID_TRY(const std::string path, resolve_model(a.model));
    NEREID_TRY(token::TokenizerSpec spec, compile::open_tokenizer(path));
    NEREID_TRY(const auto tokenizer, token::make_tokenizer(std::move(spec)));
    input->bos_token = llm::token_text(*tokenizer, tokenizer->bos_id());
    input->eos_token = llm::token_text(*tokenizer, tokenizer->eos_id());
    source = tokenizer->chat_template();
    // Models with a template of its own for tools call it so.
    for (const auto& [name, text] : tokenizer->spec().named_templates)
      if (name == "tool_use" && !input->tools.is_null()) source = text;
    if (source.empty() && a.file.empty())
      return not_found("the model '{}' carries no chat template; give one with --template FILE", a.model);
  }
  if (a.file.empty()) return source;
  return read_input(a.file, "the chat template");
}

Status prepare(const TemplateArguments& a, chat::RenderInput* input, std::optional<chat::ChatTemplate>* parsed) {
  if (a.model.empty() && a.file.empty())
    return invalid_argument("there is no template; name a model or --template FILE");
  NEREID_TRY(const chat::OrderedJson messages, read_json(a.messages, "the messages"));
  NEREID_TRY(input->messages, chat::normalize_messages(messages).with(a.messages));
  if (!a.tools.empty()) {
    NEREID_TRY(input->tools, read_json(a.tools, "the tools"));
  }
  if (!a.variables.empty()) {
    NEREID_TRY(input->variables, read_json(a.variables, "the variables"));
    if (!input->variables.is_object()) return invalid_argument("the variables in {} must be an object", a.variables);
  }
  if (!a.now.empty()) {
    NEREID_TRY(input->now, chat::parse_iso_time(a.now).with("--now"));
  }
  NEREID_TRY(std::string source, read_template(a, input));
  if (a.bos_token) input->bos_token = a.bos_token;
  if (a.eos_token) input->eos_token = a.eos_token;
  input->add_generation_prompt = a.add_generation_prompt;
  NEREID_TRY(*parsed, chat::ChatTemplate::parse(std::move(source)));
  return Status::ok();
}

}  // namespace

int template_command(Arguments args) {
  CommandLine app("Writes the prompt that a chat template makes of messages, and nothing else, to stdout.",
                  "nereid template");
  TemplateArguments a;
  app.add_option("MODEL", a.model, "the model whose template and special tokens are used");
  app.add_option("--template", a.file, "a file with the template; - is stdin");
  app.add_option("--messages", a.messages, "a JSON file: [{\"role\":...,\"content\":...}, ...]; - is stdin")
      ->required();
  app.add_option("--tools", a.tools, "a JSON file with the tools' schemas");
  app.add_option("--variables", a.variables, "a JSON file with an object of more names for the template");
  app.add_flag("--add-generation-prompt", a.add_generation_prompt, "end where the model's answer begins");
  app.add_option("--bos-token", a.bos_token, "the text of bos_token (default: the model's)");
  app.add_option("--eos-token", a.eos_token, "the text of eos_token (default: the model's)");
  app.add_option("--now", a.now, "the time for strftime_now, such as 2025-07-26T12:34:56 (default: now)");
  if (const auto code = parse(app, args)) return *code;

  chat::RenderInput input;
  std::optional<chat::ChatTemplate> parsed;
  if (const Status s = prepare(a, &input, &parsed); !s.is_ok()) return fail(s);
  const Result<std::string> text = parsed->render(input);
  if (!text.is_ok()) return fail(text.status(), kFailed);
  const Status s = write_out(*text);
  return s.is_ok() ? kDone : fail(s);
}

}  // namespace nereid::cli
