// SPDX-License-Identifier: Apache-2.0
// nereid run --chat: a conversation, line by line, on a terminal or from a pipe.
#pragma once

#include "cli/answer.h"
#include "cli/command.h"
#include "cli/load_model.h"
#include "llm/run/conversation.h"

namespace nereid::cli {

struct ChatArguments {
  std::string system;
  std::string chat_template;  // a name or a file; "": the model's own
  bool raw = false;           // no template: lines and answers follow one another as they are
};

// What `nereid run` does with the context and the cache beyond one answer.
struct SessionArguments {
  std::string load, save;  // files; "": none
  bool shifts = false;     // an answer that fills the context goes on
  int32_t keep = 4;        // tokens that stay then
  void prepare(llm::Generator& generator) const {
    if (shifts) generator.shift_context(keep);
  }
};

// Answers each prompt as a conversation of its own.
int answer_messages(LoadedModel& loaded, const std::vector<std::string>& prompts, const ChatArguments& chat,
                    const SessionArguments& session, const sample::SamplingParams& params,
                    const AnswerOptions& options);

// Reads messages from stdin, a line each, until it ends. Ctrl-C stops an answer, a second one (or one at the prompt)
// the program.
int converse(LoadedModel& loaded, const ChatArguments& chat, const SessionArguments& session,
             const sample::SamplingParams& params, const AnswerOptions& options);

}  // namespace nereid::cli
