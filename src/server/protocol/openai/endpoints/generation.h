// SPDX-License-Identifier: Apache-2.0
// One request on its way: asks the model, writes what comes, ends what nobody waits for.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/core/text_model.h"
#include "server/net/http.h"
#include "server/protocol/openai/answer_text.h"
#include "server/protocol/openai/api_error.h"

namespace nereid::server::openai {

struct GenerationOptions {
  std::shared_ptr<TextModel> model;
  std::vector<TextRequest> requests;  // one a prompt
  std::unique_ptr<AnswerText> text;
  bool is_stream = false;
  std::string id;     // also the response's X-Request-Id
  std::string param;  // the member that a model's refusal is about, as far as one can tell: "prompt", "messages"
  std::string grammar_param;  // and the one if it is about the grammar
};

// Lives until its last choice has ended, held by what the model calls back. Thread-safe.
class Generation : public std::enable_shared_from_this<Generation> {
 public:
  // Starts it. The response comes through `responder`: at once where the model refuses, else when there is something to
  // say, so that what fails before the first token is a plain error with its status.
  static void run(GenerationOptions options, std::shared_ptr<net::Responder> responder);

 private:
  Generation(GenerationOptions options, std::shared_ptr<net::Responder> responder);
  void start();
  void on_output(size_t prompt, TextOutput&& output);
  void on_last(const TextOutput& output);
  void start_stream();
  void finish();
  void fail(const ApiError& error);
  void cancel_all();
  ApiError refusal(const Status& status) const;

  GenerationOptions options_;
  std::shared_ptr<net::Responder> responder_;
  std::string_view grammar_kind_;  // by its name; "": none was asked for

  std::mutex mutex_;  // of what follows
  Usage usage_;
  size_t choices_left_ = 0;
  bool has_started_ = false;  // the stream's head is out
  bool is_over_ = false;
  std::string events_;

  std::mutex ids_mutex_;  // of what follows; nothing else is locked under it
  std::vector<uint64_t> ids_;
  bool is_cancelled_ = false;
};

}  // namespace nereid::server::openai
