// SPDX-License-Identifier: Apache-2.0
// What embeddings, ranking and scoring share: handing texts to a model and answering when it is done, and how two texts
// are compared.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "server/protocol/openai/endpoints/handlers.h"
#include "server/protocol/openai/fields.h"

namespace nereid::server::openai {

// `truncate` (true, false, "END", "NONE"), or vLLM's `truncate_prompt_tokens` (-1): whether texts that are too long
// lose their end. Everything else is told as an error.
bool read_truncate(Fields& fields, bool fallback);

// Hands the texts over and returns; on the model's thread `answer` makes the response of the results, or what went
// wrong is told, as an error of the member `param`. A client that goes away takes its texts back.
using EncodeResponse = std::function<net::Response(std::vector<Encoded>&&)>;
void encode_and_send(const FoundModel& found, EncodeRequest request, const ResponderPtr& responder,
                     const std::string& param, EncodeResponse answer);

// Whether the model compares texts at all; if it does not, the error is sent.
bool can_judge(const FoundModel& found, net::Responder& responder);

struct TextPair {
  size_t first = 0, second = 0;  // of `texts`
};
struct Judged {
  std::vector<float> scores;  // one a pair
  int64_t tokens = 0;         // that the model read
};
// Scores of pairs by the model's own judgement, or by how near their vectors lie (the cosine) where it only gives
// vectors; then a text that stands in many pairs is read once.
using JudgedResponse = std::function<net::Response(Judged&&)>;
void judge_and_send(const FoundModel& found, std::vector<std::string> texts, std::vector<TextPair> pairs,
                    bool truncates, const ResponderPtr& responder, const std::string& param, JudgedResponse answer);

}  // namespace nereid::server::openai
