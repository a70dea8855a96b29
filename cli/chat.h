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

// Answers each prompt as a conversation of its own.
int answer_messages(LoadedModel& loaded, const std::vector<std::string>& prompts, const ChatArguments& chat,
                    const sample::SamplingParams& params, const AnswerOptions& options);

// Reads messages from stdin, a line each, until it ends. Ctrl-C stops an answer, a second one (or one at the prompt)
// the program.
int converse(LoadedModel& loaded, const ChatArguments& chat, const sample::SamplingParams& params,
             const AnswerOptions& options);

}  // namespace nereid::cli
