// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/endpoints/judge.h"

#include <algorithm>
#include <cmath>

namespace nereid::server::openai {
namespace {

double cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double product = 0, square_a = 0, square_b = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    product += static_cast<double>(a[i]) * b[i];
    square_a += static_cast<double>(a[i]) * a[i];
    square_b += static_cast<double>(b[i]) * b[i];
  }
  return square_a > 0 && square_b > 0 ? product / std::sqrt(square_a * square_b) : 0;
}

int64_t total_tokens(const std::vector<Encoded>& results) {
  int64_t tokens = 0;
  for (const Encoded& one : results) tokens += one.tokens;
  return tokens;
}

}  // namespace

bool read_truncate(Fields& fields, bool fallback) {
  bool truncates = fallback;
  if (const std::optional<int64_t> most = fields.integer("truncate_prompt_tokens", -1, INT32_MAX); most) {
    if (*most != -1)
      fields.fail("truncate_prompt_tokens", "invalid_value",
                  "Invalid 'truncate_prompt_tokens': only -1, the longest that the model reads, is supported.");
    truncates = true;
  }
  const Json* value = fields.any("truncate");
  if (value == nullptr) return truncates;
  if (value->is_boolean()) return value->get<bool>();
  static constexpr std::string_view kWords[] = {"NONE", "END"};
  return fields.word("truncate", kWords).value_or("NONE") == "END";
}

void encode_and_send(const FoundModel& found, EncodeRequest request, const ResponderPtr& responder,
                     const std::string& param, EncodeResponse answer) {
  const Result<uint64_t> id =
      found.model->encode(std::move(request), [responder, param, answer = std::move(answer)](EncodeAnswer&& done) {
        if (!done.status.is_ok()) return send_error(*responder, api_error(done.status, param));
        responder->send(answer(std::move(done.results)));
      });
  if (!id.is_ok()) return send_error(*responder, api_error(id.status(), param));
  responder->on_closed([model = found.model, id = *id] { model->cancel(id); });
}

bool can_judge(const FoundModel& found, net::Responder& responder) {
  const ModelCard& card = found.model->card();
  if (card.reranks || card.embeds) return true;
  send_error(responder, {.http = 404,
                         .message = fmt::format(
                             "The model `{}` cannot rank documents; /v1/models lists what each can do.", found.name),
                         .param = "model"});
  return false;
}

void judge_and_send(const FoundModel& found, std::vector<std::string> texts, std::vector<TextPair> pairs,
                    bool truncates, const ResponderPtr& responder, const std::string& param, JudgedResponse answer) {
  EncodeRequest request{.texts = {}, .truncates = truncates};
  if (found.model->card().reranks) {
    for (const TextPair& pair : pairs)
      request.texts.push_back({.text = texts[pair.first], .second = texts[pair.second], .tokens = {}});
    return encode_and_send(found, std::move(request), responder, param,
                           [answer = std::move(answer)](std::vector<Encoded>&& results) {
                             Judged judged{.scores = {}, .tokens = total_tokens(results)};
                             for (const Encoded& one : results) judged.scores.push_back(one.values.at(0));
                             return answer(std::move(judged));
                           });
  }
  for (std::string& text : texts) request.texts.push_back({.text = std::move(text), .second = {}, .tokens = {}});
  encode_and_send(
      found, std::move(request), responder, param,
      [answer = std::move(answer), pairs = std::move(pairs)](std::vector<Encoded>&& results) {
        Judged judged{.scores = {}, .tokens = total_tokens(results)};
        for (const TextPair& pair : pairs)
          judged.scores.push_back(static_cast<float>(cosine(results[pair.first].values, results[pair.second].values)));
        return answer(std::move(judged));
      });
}

}  // namespace nereid::server::openai
