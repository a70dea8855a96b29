// SPDX-License-Identifier: Apache-2.0
// POST /v1/score and /score, in vLLM's shape: how well pairs of texts belong together.
#include "server/protocol/openai/answer_text.h"
#include "server/protocol/openai/completion_request.h"
#include "server/protocol/openai/endpoints/judge.h"
#include "server/protocol/openai/json_text.h"

namespace nereid::server::openai {
namespace {

// A string, or an array of at least one.
std::vector<std::string> read_texts(Fields& fields, std::string_view name) {
  fields.require(name);
  const Json* value = fields.any(name);
  std::vector<std::string> texts;
  if (value != nullptr && value->is_string()) {
    texts.push_back(value->get<std::string>());
  } else {
    texts = fields.texts(name, kMaxPrompts);
    if (value != nullptr && texts.empty())
      fields.fail(name, "empty_array", fmt::format("Invalid '{}': expected at least one text.", name));
  }
  return texts;
}

}  // namespace

void score(const Service& service, net::Request request, ResponderPtr responder) {
  FirstError error;
  const Json body = read_body(request.body, &error);
  if (error.is_set()) return send_error(*responder, error.get());
  Fields fields(body, &error);
  const std::string name = fields.text("model").value_or("");
  std::vector<std::string> texts = read_texts(fields, "text_1");
  const std::vector<std::string> others = read_texts(fields, "text_2");
  const bool truncates = read_truncate(fields, true);
  fields.ignore({"user", "priority"});
  fields.log_unknown("/v1/score");
  const size_t count = texts.size();
  if (count != 1 && count != others.size())
    fields.fail("text_2", "invalid_value",
                fmt::format("Invalid 'text_2': {} texts cannot be compared with {}; send one in 'text_1', or as many.",
                            others.size(), count));
  if (error.is_set()) return send_error(*responder, error.get());
  const FoundModel found = find_model(service, name, &error);
  if (error.is_set()) return send_error(*responder, error.get());
  if (!can_judge(found, *responder)) return;

  std::vector<TextPair> pairs;
  for (size_t i = 0; i < others.size(); ++i) pairs.push_back({.first = count == 1 ? 0 : i, .second = count + i});
  texts.insert(texts.end(), others.begin(), others.end());
  const std::string id = random_id("score-", 24, service.random);
  const int64_t now = service.unix_s();
  judge_and_send(found, std::move(texts), std::move(pairs), truncates, responder, "text_2",
                 [id, now, model = found.name](Judged&& judged) {
                   std::string out = R"({"id":)";
                   append_json_string(&out, id);
                   out += fmt::format(R"(,"object":"list","created":{},"model":)", now);
                   append_json_string(&out, model);
                   out += R"(,"data":[)";
                   for (size_t i = 0; i < judged.scores.size(); ++i) {
                     out += fmt::format(R"({}{{"index":{},"object":"score","score":)", i > 0 ? "," : "", i);
                     append_float(&out, judged.scores[i]);
                     out += '}';
                   }
                   out += fmt::format(R"(],"usage":{{"prompt_tokens":{0},"total_tokens":{0}}}}})", judged.tokens);
                   return net::json_response(200, std::move(out));
                 });
}

}  // namespace nereid::server::openai
