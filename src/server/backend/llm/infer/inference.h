// SPDX-License-Identifier: Apache-2.0
// One inference on its way through a language model: its prompts as requests of the executor, their tokens as
// responses.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "server/backend/llm/infer/answer_tensors.h"

namespace nereid::server {

struct InferenceParts {
  std::shared_ptr<const ModelConfig> config;
  std::shared_ptr<TextModel> model;
  AskStyle style = AskStyle::kPlain;
  bool accumulates = false;  // each response of a stream holds all there is so far
  InferRequest request;
  std::vector<Ask> asks;  // one for each prompt
  InferSink sink;
  // Called once each: before the last response goes out (so that whoever has it finds it counted), and after it;
  // `first_ns`: of the first token, 0 where there was none.
  std::function<void(const Status& status, int64_t begin_ns, int64_t first_ns)> count;
  std::function<void()> ended;
};

// Its methods are for any thread.
class Inference : public std::enable_shared_from_this<Inference> {
 public:
  static std::shared_ptr<Inference> start(InferenceParts parts);

  // Ends it with kCancelled as soon as the model hears of it.
  void cancel();
  // Whether whoever asked for it has gone.
  bool is_unwanted() const { return parts_.request.is_cancelled(); }
  const std::string& id() const { return parts_.request.id; }

 private:
  struct Answer {
    AnswerPart part;
    bool is_done = false;
  };

  explicit Inference(InferenceParts parts);
  void run();
  void on_output(size_t prompt, TextOutput&& output);
  void add(size_t prompt, TextOutput&& output, Answer* answer);
  InferResponse respond(size_t prompt, std::vector<AnswerPart> parts, bool is_final) const;
  InferResponse respond_whole();
  void end(InferResponse&& response);
  Status refusal(const TextOutput& output) const;

  InferenceParts parts_;
  const int64_t begin_ns_;
  std::mutex mutex_;  // of what follows; the sink is called with it held, so that responses keep their order
  std::vector<std::vector<Answer>> answers_;  // by prompt and choice
  std::vector<uint64_t> ids_;                 // of the executor's requests
  size_t left_ = 0;                           // answers that have not ended
  int64_t first_token_ns_ = 0;
  bool is_over_ = false, is_cancelled_ = false;
};

}  // namespace nereid::server
