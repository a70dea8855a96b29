// SPDX-License-Identifier: Apache-2.0
// nereid_llm_tokenize, _detokenize, _chat_prompt: text in, ids out, and back.
#include <algorithm>
#include <span>

#include "api/answer.h"
#include "api/llm.h"
#include "llm/run/conversation.h"
#include "nereid/llm.h"

namespace nereid::api {
namespace {

// Elements to a caller's memory; a capacity of 0 only asks how many there are.
template <typename T>
Status give(std::span<const T> from, T* to, size_t capacity, size_t* count, std::string_view what) {
  if (count == nullptr) return invalid_argument("the place for the number of {} is NULL", what);
  *count = from.size();
  if (capacity == 0) return Status::ok();
  if (to == nullptr) return invalid_argument("the place for the {} is NULL, but its capacity is {}", what, capacity);
  if (from.size() > capacity)
    return invalid_argument("there are {} {}, more than the capacity of {}", from.size(), what, capacity);
  std::copy(from.begin(), from.end(), to);
  return Status::ok();
}

Result<const llm::LanguageModel*> model_of(const nereid_llm* handle) {
  if (handle == nullptr) return invalid_argument("the model's handle is NULL: it was not opened, or is closed");
  return &handle->llm->model();
}

}  // namespace
}  // namespace nereid::api

using nereid::Status;
using nereid::api::answer;

extern "C" {

nereid_status nereid_llm_tokenize(const nereid_llm* llm, const char* text, size_t size, int32_t add_special,
                                  int32_t parse_special, int32_t* ids, size_t capacity, size_t* count) {
  return answer([&]() -> Status {
    NEREID_TRY(const nereid::llm::LanguageModel* model, nereid::api::model_of(llm));
    if (text == nullptr && size > 0) return nereid::invalid_argument("the text is NULL, but its size is {}", size);
    const auto& tokenizer = model->tokenizer();
    std::vector<int32_t> all = tokenizer.encode({text, size}, {.add_special = add_special != 0,  //
                                                               .parse_special = parse_special != 0});
    // What ends a text would end an answer before it begins.
    if (add_special != 0) all.resize(all.size() - std::min(all.size(), tokenizer.spec().suffix_ids.size()));
    return nereid::api::give(std::span<const int32_t>(all), ids, capacity, count, "ids");
  });
}

nereid_status nereid_llm_detokenize(const nereid_llm* llm, const int32_t* ids, size_t count, char* text,
                                    size_t capacity, size_t* size) {
  return answer([&]() -> Status {
    NEREID_TRY(const nereid::llm::LanguageModel* model, nereid::api::model_of(llm));
    if (ids == nullptr && count > 0) return nereid::invalid_argument("the ids are NULL, but their count is {}", count);
    for (size_t i = 0; i < count; ++i)
      if (ids[i] < 0 || ids[i] >= model->vocab())
        return nereid::invalid_argument("id {} is outside the vocabulary of {}", ids[i], model->vocab());
    const std::string all = model->tokenizer().decode({ids, count}, {.skip_special = false});
    return nereid::api::give(std::span<const char>(all), text, capacity, size, "bytes");
  });
}

nereid_status nereid_llm_chat_prompt(const nereid_llm* llm, const char* messages, const char* tools, int32_t* ids,
                                     size_t capacity, size_t* count) {
  return answer([&]() -> Status {
    NEREID_TRY(const nereid::llm::LanguageModel* model, nereid::api::model_of(llm));
    if (messages == nullptr) return nereid::invalid_argument("the messages are NULL");
    if (!model->chat_template()) return nereid::unsupported("the model carries no chat template");
    NEREID_TRY(const std::vector<int32_t> prompt,
               nereid::llm::chat_prompt(model->tokenizer(), *model->chat_template(),
                                        {.messages = messages, .tools = tools == nullptr ? "" : tools}));
    return nereid::api::give(std::span<const int32_t>(prompt), ids, capacity, count, "ids");
  });
}

}  // extern "C"
