// SPDX-License-Identifier: Apache-2.0
#include "server/backend/llm/llm_model.h"

#include <ctime>
#include <filesystem>

#include "server/backend/llm/tool_format.h"

namespace nereid::server {
namespace {

// "models/smollm2.gguf": smollm2; "models/SmolLM2-135M/": SmolLM2-135M.
std::string name_of(const std::string& path) {
  std::filesystem::path p = std::filesystem::path(path).lexically_normal();
  if (!p.has_filename()) p = p.parent_path();
  const bool is_file_of_weights = p.extension() == ".gguf" || p.extension() == ".engine";
  return is_file_of_weights ? p.stem().string() : p.filename().string();
}

TextFinish finish_of(llm::FinishReason reason) {
  switch (reason) {
    case llm::FinishReason::kStop:
      return TextFinish::kStop;
    case llm::FinishReason::kLength:
      return TextFinish::kLength;
    case llm::FinishReason::kCancelled:
      return TextFinish::kCancelled;
    case llm::FinishReason::kTimeout:
      return TextFinish::kTimeout;
  }
  return TextFinish::kCancelled;
}

TextOutput text_output(llm::Output&& o) {
  TextOutput t;
  t.choice = o.choice;
  t.token = o.token;
  t.text = std::move(o.text);
  t.sample = std::move(o.sample);
  t.is_last = o.is_last;
  t.finish = finish_of(o.finish_reason);
  t.status = std::move(o.status);
  t.prompt_tokens = o.prompt_tokens;
  t.reused_tokens = o.reused_tokens;
  t.answer_tokens = o.answer_tokens;
  t.prompt = std::move(o.prompt);
  return t;
}

// The model's own template if nothing is chosen; none at all is no error then.
Result<std::optional<chat::ChatTemplate>> find_template(const llm::LanguageModel& model, const std::string& choice) {
  if (choice.empty()) return model.chat_template();
  NEREID_TRY(chat::ChatTemplate chosen, llm::choose_template(model, choice));
  return std::optional(std::move(chosen));
}

std::string chosen(const std::string& choice, std::string_view by_template) {
  if (choice == "auto") return std::string(by_template);
  return choice == "none" ? "" : choice;
}

}  // namespace

Result<std::unique_ptr<LlmModel>> LlmModel::open(const std::string& path, const LlmModelOptions& options,
                                                 const std::function<void(int64_t, int64_t)>& progress,
                                                 bool* wrong_option) {
  std::unique_ptr<LlmModel> m(new LlmModel);
  NEREID_TRY(m->opened_,
             llm::open_model(path, options.open, llm::load_options(options.executor), progress, wrong_option));
  const llm::LanguageModel& model = *m->opened_.model;
  NEREID_TRY(m->template_, find_template(model, options.chat_template));
  m->card_.name = options.name.empty() ? name_of(path) : options.name;
  m->card_.created_s = static_cast<int64_t>(std::time(nullptr));
  m->card_.context_tokens = model.context_tokens();
  m->card_.vocab = model.vocab();
  m->card_.generates = true;
  m->card_.shifts = options.executor.shift_keep >= 0;
  m->card_.chats = m->template_.has_value();
  if (m->template_) {
    m->card_.tool_format = chosen(options.tool_format, tool_format_of(m->template_->source()));
    m->card_.thought_format = chosen(options.thought_format, thought_format_of(m->template_->source()));
  }
  llm::ExecutorOptions executor = options.executor;
  if (!options.draft.empty()) {
    Result<llm::OpenedDraft> draft = llm::open_draft(options.draft, options.open, m->opened_, {}, progress);
    if (wrong_option) *wrong_option |= draft.status().code() == StatusCode::kInvalidArgument;
    NEREID_TRY(m->draft_, std::move(draft));
    m->opened_.warnings.insert(m->opened_.warnings.end(), m->draft_.warnings.begin(), m->draft_.warnings.end());
    executor.draft = m->draft_.model.get();
  }
  NEREID_TRY(m->executor_, llm::Executor::start(*m->opened_.model, executor));
  return m;
}

LlmModel::~LlmModel() = default;

std::vector<int32_t> LlmModel::tokenize(std::string_view text, bool add_special, bool parse_special) const {
  const token::Tokenizer& tokenizer = opened_.model->tokenizer();
  std::vector<int32_t> ids = tokenizer.encode(text, {.add_special = add_special, .parse_special = parse_special});
  // What ends a text would end the answer before it begins.
  if (add_special) ids.resize(ids.size() - std::min(ids.size(), tokenizer.spec().suffix_ids.size()));
  return ids;
}

Result<std::string> LlmModel::detokenize(std::span<const int32_t> tokens) const {
  for (int32_t token : tokens)
    if (token < 0 || token >= card_.vocab)
      return invalid_argument("token {} is outside the vocabulary of {}", token, card_.vocab);
  return opened_.model->tokenizer().decode(tokens, {.skip_special = false});
}

std::string LlmModel::token_text(int32_t token) const {
  const token::Tokenizer& tokenizer = opened_.model->tokenizer();
  if (token >= 0 && token < tokenizer.vocab_size() && tokenizer.is_special(token))
    return tokenizer.decode({&token, 1}, {.skip_special = false});
  return std::string(tokenizer.piece(token));
}

Result<std::vector<int32_t>> LlmModel::chat_prompt(const ChatInput& chat) const {
  if (!template_) return unsupported("the model {} has no chat template; send a prompt to be completed", card_.name);
  return llm::chat_prompt(opened_.model->tokenizer(), *template_,
                          {.messages = chat.messages,
                           .tools = chat.tools,
                           .variables = chat.variables,
                           .add_generation_prompt = chat.add_generation_prompt});
}

Result<uint64_t> LlmModel::generate(TextRequest request, TextSink sink) {
  llm::Request wanted{.prompt = std::move(request.prompt),
                      .params = std::move(request.params),
                      .choices = request.choices,
                      .prompt_logprobs = request.prompt_logprobs,
                      .priority = request.priority,
                      .timeout_us = request.timeout_us,
                      .user = std::move(request.user),
                      .shift_keep = request.shift_keep,
                      .adapter = std::move(request.adapter)};
  NEREID_TRY(const llm::RequestId id,
             executor_->enqueue(std::move(wanted), [sink = std::move(sink)](llm::Output&& output) {
               sink(text_output(std::move(output)));
             }));
  return id.v;
}

void LlmModel::cancel(uint64_t id) {
  executor_->cancel({id});
}

std::vector<std::string> LlmModel::adapters() const {
  std::vector<std::string> names;
  for (const llm::AdapterPtr& adapter : executor_->adapters()) names.push_back(adapter->name);
  return names;
}

Status LlmModel::load_adapter(const std::string& name, const std::string& path, double scale) {
  return executor_->load_adapter(name, {{.path = path, .scale = scale}});
}

Status LlmModel::unload_adapter(std::string_view name) {
  return executor_->unload_adapter(name);
}

}  // namespace nereid::server
