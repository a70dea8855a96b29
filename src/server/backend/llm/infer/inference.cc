// SPDX-License-Identifier: Apache-2.0
#include "server/backend/llm/infer/inference.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "server/core/infer_check.h"

namespace nereid::server {

Inference::Inference(InferenceParts parts) : parts_(std::move(parts)), begin_ns_(now_ns()) {
  for (const Ask& ask : parts_.asks) {
    std::vector<Answer>& answers = answers_.emplace_back(static_cast<size_t>(std::max(1, ask.request.choices)));
    for (size_t choice = 0; choice < answers.size(); ++choice) {
      AnswerPart& part = answers[choice].part;
      part.prompt = static_cast<int32_t>(answers_.size()) - 1;
      part.choice = static_cast<int32_t>(choice);
      part.prompt_tokens = static_cast<int64_t>(ask.request.prompt.size());
      if (ask.streams || *ask.excludes_prompt) continue;
      if (ask.is_text) {
        part.text = ask.text;
      } else {
        part.tokens = ask.request.prompt;
      }
    }
    left_ += answers.size();
  }
}

std::shared_ptr<Inference> Inference::start(InferenceParts parts) {
  const std::shared_ptr<Inference> self(new Inference(std::move(parts)));
  self->run();
  return self;
}

void Inference::run() {
  for (size_t i = 0; i < parts_.asks.size(); ++i) {
    // The ask stays for what its answer needs; of its request the prompt may be long.
    const Result<uint64_t> id = parts_.model->generate(
        std::move(parts_.asks[i].request),
        [self = shared_from_this(), i](TextOutput&& output) { self->on_output(i, std::move(output)); });
    std::unique_lock lock(mutex_);
    if (!id.is_ok()) {
      if (!is_over_) {
        InferResponse response;
        response.status = id.status().with(request_mark(parts_.request.id) + parts_.config->name);
        end(std::move(response));
      }
      lock.unlock();
      return cancel();
    }
    ids_.push_back(*id);
    if (is_over_ || is_cancelled_) {
      lock.unlock();
      return cancel();
    }
  }
}

void Inference::cancel() {
  std::vector<uint64_t> ids;
  {
    const std::lock_guard lock(mutex_);
    is_cancelled_ = true;
    ids = ids_;
    if (ids.size() < parts_.asks.size() && !is_over_) {
      // Prompts that the model has not been given will not say that they ended.
      InferResponse response;
      response.status = cancelled("{}the request was cancelled", request_mark(parts_.request.id));
      end(std::move(response));
    }
  }
  for (const uint64_t id : ids) parts_.model->cancel(id);
}

Status Inference::refusal(const TextOutput& output) const {
  if (!output.status.is_ok()) return output.status;
  const std::string mark = request_mark(parts_.request.id);
  if (output.finish == TextFinish::kCancelled) return cancelled("{}the request was cancelled", mark);
  if (output.finish == TextFinish::kTimeout) return unavailable("{}Request timeout expired", mark);
  return Status::ok();
}

void Inference::add(size_t prompt, TextOutput&& output, Answer* answer) {
  AnswerPart& part = answer->part;
  if (output.token >= 0) {
    const int64_t now = now_ns();
    if (first_token_ns_ == 0) first_token_ns_ = now;
    if (part.first_token_ns == 0) part.first_token_ns = now;
    part.last_token_ns = now;
    part.tokens.push_back(output.token);
    part.cumulative += output.sample.logprob;
    part.samples.push_back(std::move(output.sample));
  }
  if (parts_.asks[prompt].is_text) part.text += output.text;
  if (!output.is_last) return;
  answer->is_done = true;
  part.finish = output.finish == TextFinish::kLength ? "length" : "stop";
  part.reused_tokens = output.reused_tokens;
}

InferResponse Inference::respond(size_t prompt, std::vector<AnswerPart> parts, bool is_final) const {
  const Ask& ask = parts_.asks[prompt];
  const bool is_whole = !ask.streams;
  const AnswerNeeds needs{
      .config = *parts_.config,
      .model = *parts_.model,
      .outputs = parts_.request.outputs,
      .ask = ask,
      .prompts = is_whole ? static_cast<int32_t>(parts_.asks.size()) : 1,
      .choices = is_whole ? static_cast<int32_t>(answers_[0].size()) : 1,
      .arrival_ns = parts_.request.arrival_ns,
  };
  InferResponse response;
  response.outputs = answer_tensors(needs, parts);
  response.is_final = is_final;
  return response;
}

InferResponse Inference::respond_whole() {
  std::vector<AnswerPart> parts;
  for (std::vector<Answer>& answers : answers_)
    for (Answer& one : answers) parts.push_back(std::move(one.part));
  return respond(0, std::move(parts), true);
}

// The mutex is held.
void Inference::end(InferResponse&& response) {
  is_over_ = true;
  response.is_final = true;
  parts_.count(response.status, begin_ns_, first_token_ns_);
  // Whatever the sink holds may hold the model.
  std::exchange(parts_.sink, nullptr)(std::move(response));
  parts_.ended();
}

void Inference::on_output(size_t prompt, TextOutput&& output) {
  bool stop = false;
  {
    const std::lock_guard lock(mutex_);
    if (is_over_) return;
    const auto choice = static_cast<size_t>(output.choice);
    if (choice >= answers_[prompt].size()) return;
    const bool is_last = output.is_last;
    if (is_last) {
      if (Status status = refusal(output); !status.is_ok()) {
        InferResponse response;
        response.status = std::move(status);
        end(std::move(response));
        stop = true;
      }
    }
    if (!is_over_) {
      Answer& answer = answers_[prompt][choice];
      add(prompt, std::move(output), &answer);
      if (is_last) --left_;
      const Ask& ask = parts_.asks[prompt];
      const bool has_news = ask.is_text ? !answer.part.text.empty() : !answer.part.tokens.empty();
      if (ask.streams && (is_last || has_news)) {
        AnswerPart part = answer.part;
        if (!parts_.accumulates) answer.part.text.clear(), answer.part.tokens.clear(), answer.part.samples.clear();
        InferResponse response = respond(prompt, {std::move(part)}, left_ == 0);
        if (left_ == 0) {
          end(std::move(response));
        } else {
          parts_.sink(std::move(response));
        }
      } else if (left_ == 0) {
        end(respond_whole());
      }
      stop |= !is_over_ && is_unwanted();
    }
  }
  if (stop) cancel();
}

}  // namespace nereid::server
