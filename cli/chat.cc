// SPDX-License-Identifier: Apache-2.0
#include "cli/chat.h"

#include <array>

#include "base/atomic_file.h"
#include "base/log.h"
#include "cli/line_reader.h"

namespace nereid::cli {
namespace {

// What there is to answer to, as token ids: messages through a template, or plain text that grows.
class History {
 public:
  static Result<History> make(const LoadedModel& loaded, const ChatArguments& chat) {
    History history(loaded.model->tokenizer());
    if (chat.raw) return history;
    NEREID_TRY(chat::ChatTemplate chosen,
               llm::choose_template(*loaded.model, chat.chat_template).with("--chat-template"));
    history.messages_.emplace(loaded.model->tokenizer(), std::move(chosen));
    history.messages_->set_system(chat.system);
    return history;
  }

  void ask(std::string_view text) {
    asked_at_ = text_.size();
    if (messages_)
      messages_->add("user", text);
    else
      text_ += text;
  }
  void answered(std::string_view text) {
    if (messages_)
      messages_->add("assistant", text);
    else
      text_ += text;
  }
  // A question that could not be answered was never asked.
  void take_back() {
    if (messages_) messages_->drop_last();
    text_.resize(asked_at_);
  }
  void clear() {
    if (messages_) messages_->clear();
    text_.clear();
  }
  // For a session's file, and back.
  std::string note() const {
    const chat::OrderedJson note = messages_ ? messages_->messages() : chat::OrderedJson(text_);
    return note.dump(-1, ' ', false, chat::OrderedJson::error_handler_t::replace);
  }
  Status restore(const std::string& note) {
    if (note.empty()) return Status::ok();  // of a prompt, not a conversation
    const chat::OrderedJson json = chat::OrderedJson::parse(note, nullptr, false);
    if (json.is_discarded() || json.is_string() == messages_.has_value())
      return invalid_argument("the session was saved {} a chat template; it goes on the same way",
                              messages_ ? "without" : "with");
    if (messages_) return messages_->set_messages(json);
    text_ = json.get<std::string>();
    return Status::ok();
  }
  llm::Conversation* messages() { return messages_ ? &*messages_ : nullptr; }

  Result<std::vector<int32_t>> prompt() const {
    if (messages_) return messages_->prompt();
    return llm::encode_prompt(*tokenizer_, text_);
  }
  // The prompt after as many of the oldest exchanges are dropped as it takes to leave room for an answer.
  Result<std::vector<int32_t>> prompt_within(int64_t tokens) {
    NEREID_TRY(std::vector<int32_t> ids, prompt());
    int dropped = 0;
    while (static_cast<int64_t>(ids.size()) > tokens && messages_ && messages_->drop_oldest()) {
      NEREID_TRY(ids, prompt());
      ++dropped;
    }
    if (dropped > 0)
      log_info("the conversation is longer than the context: the {} oldest exchanges are forgotten", dropped);
    return ids;
  }

 private:
  explicit History(const token::Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}

  const token::Tokenizer* tokenizer_;
  std::optional<llm::Conversation> messages_;  // with a template
  std::string text_;                           // without
  size_t asked_at_ = 0;                        // where the last question begins in it
};

struct Talk {
  History& history;
  bool is_over = false;
};

// What a line that begins with '/' does.
struct Order {
  std::string_view name;
  std::string_view help;
  void (*run)(Talk& talk, const std::string& rest);
};

void show_help(Talk& talk, const std::string& rest);
void forget(Talk& talk, const std::string&) {
  talk.history.clear();
  log_info("the conversation begins anew");
}
void set_system(Talk& talk, const std::string& text) {
  if (!talk.history.messages()) return log_warn("there is no system message without a chat template");
  talk.history.messages()->set_system(text);
  talk.history.clear();
  log_info("the system message is {}; the conversation begins anew", text.empty() ? "gone" : "set");
}
void save(Talk& talk, const std::string& path) {
  if (!talk.history.messages() || path.empty()) return log_warn("/save needs a file's name, and a chat template");
  const auto write = [&]() -> Status {
    NEREID_TRY(AtomicFile file, AtomicFile::create(path));
    NEREID_RETURN_IF_ERROR(file.write(
        talk.history.messages()->messages().dump(2, ' ', false, chat::OrderedJson::error_handler_t::replace)));
    return file.commit();
  };
  if (const Status s = write(); !s.is_ok())
    log_warn("{}", s.message());
  else
    log_info("the messages are in {}", path);
}
void quit(Talk& talk, const std::string&) {
  talk.is_over = true;
}

constexpr std::array kOrders = {
    Order{"/help", "this list", show_help},
    Order{"/reset", "forgets the conversation", forget},
    Order{"/system", "TEXT: a new system message; the conversation begins anew", set_system},
    Order{"/save", "FILE: writes the messages as JSON", save},
    Order{"/quit", "ends; so does Ctrl-D", quit},
};

void show_help(Talk&, const std::string&) {
  for (const Order& order : kOrders) log_info("{:<8} {}", order.name, order.help);
  log_info("Ctrl-C stops an answer; a second one ends the program");
}

// True if the line was an order.
bool obey(Talk& talk, const std::string& line) {
  const size_t space = line.find(' ');
  const std::string_view name = std::string_view(line).substr(0, space);
  for (const Order& order : kOrders) {
    if (order.name != name) continue;
    order.run(talk, space == std::string::npos ? "" : line.substr(space + 1));
    return true;
  }
  return false;
}

Status load_session(const SessionArguments& session, llm::Generator& generator, History& history) {
  if (session.load.empty()) return Status::ok();
  NEREID_TRY(const std::string note, generator.restore(session.load));
  NEREID_RETURN_IF_ERROR(history.restore(note));
  log_info("the session of {} tokens goes on", generator.held().size());
  return Status::ok();
}

// `code`, or that of a session that could not be saved.
int save_session(const SessionArguments& session, const llm::Generator& generator, const History& history, int code) {
  if (session.save.empty()) return code;
  const Status s = generator.save(session.save, history.note());
  return s.is_ok() ? code : fail(s, kFailed);
}

// Room for an answer: what was asked for, at most a quarter of the context.
int64_t prompt_room(const llm::LanguageModel& model, const sample::SamplingParams& params) {
  return model.context_tokens() - std::min<int64_t>(params.max_tokens, model.context_tokens() / 4);
}

}  // namespace

int answer_messages(LoadedModel& loaded, const std::vector<std::string>& prompts, const ChatArguments& chat,
                    const SessionArguments& session, const sample::SamplingParams& params,
                    const AnswerOptions& options) {
  llm::Generator generator(*loaded.model);
  generator.set_adapter(options.adapter);
  generator.set_draft(options.draft, options.draft_tokens);
  session.prepare(generator);
  Result<History> history = History::make(loaded, chat);
  if (!history.is_ok()) return fail(history.status());
  if (const Status s = load_session(session, generator, *history); !s.is_ok()) return fail(s);
  bool is_first = true;
  for (const std::string& text : prompts) {
    // The first goes on from a session that was loaded, the others begin anew.
    if (!std::exchange(is_first, false) || session.load.empty()) history->clear();
    history->ask(text);
    const Result<std::vector<int32_t>> ids = history->prompt_within(prompt_room(*loaded.model, params));
    if (!ids.is_ok()) return fail(ids.status());
    const Result<llm::Generated> answer = show_answer(generator, *loaded.model, *ids, params, options);
    if (!answer.is_ok()) return fail(answer.status());
    history->answered(answer->text);
    if (answer->finish_reason == llm::FinishReason::kCancelled) return kInterrupted;
  }
  return save_session(session, generator, *history, kDone);
}

namespace {

int talk_on(LoadedModel& loaded, llm::Generator& generator, History& history, const sample::SamplingParams& params,
            const AnswerOptions& options) {
  LineReader reader;
  Talk talk{history};
  const auto reply = [&](History& h, const std::string& line) -> Result<llm::Generated> {
    h.ask(line);
    NEREID_TRY(const std::vector<int32_t> ids, h.prompt_within(prompt_room(*loaded.model, params)));
    return show_answer(generator, *loaded.model, ids, params, options);
  };
  if (reader.is_terminal()) log_info("write to the model; /help tells what else there is");
  while (!talk.is_over) {
    const std::optional<std::string> line = reader.next("> ");
    if (!line) {
      if (reader.is_terminal()) std::fputs("\n", stderr);
      return LineReader::stopped() ? kInterrupted : kDone;
    }
    if (line->find_first_not_of(" \t") == std::string::npos || obey(talk, *line)) continue;
    const Result<llm::Generated> answer = reply(history, *line);
    if (!answer.is_ok()) {
      const ExitCode code = fail(answer.status());
      if (!reader.is_terminal() || code != kWrongInput) return code;
      history.take_back();  // too long, say: the person asks something else
      continue;
    }
    history.answered(answer->text);
    if (interrupted()) return kInterrupted;  // SIGTERM
    // On a terminal the person goes on with another line; a pipe was to be answered whole.
    if (answer->finish_reason == llm::FinishReason::kCancelled && !reader.is_terminal()) return kInterrupted;
    LineReader::forget_stop();
  }
  return kDone;
}

}  // namespace

int converse(LoadedModel& loaded, const ChatArguments& chat, const SessionArguments& session,
             const sample::SamplingParams& params, const AnswerOptions& options) {
  Result<History> history = History::make(loaded, chat);
  if (!history.is_ok()) return fail(history.status());
  llm::Generator generator(*loaded.model, 0, LineReader::stopped);
  generator.set_adapter(options.adapter);
  generator.set_draft(options.draft, options.draft_tokens);
  session.prepare(generator);
  if (const Status s = load_session(session, generator, *history); !s.is_ok()) return fail(s);
  const int code = talk_on(loaded, generator, *history, params, options);
  return code == kDone || code == kInterrupted ? save_session(session, generator, *history, code) : code;
}

}  // namespace nereid::cli
