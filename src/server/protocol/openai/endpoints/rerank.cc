// SPDX-License-Identifier: Apache-2.0
// POST /v1/rerank, /v2/rerank and /rerank, in the shape that Jina, Cohere and vLLM share.
#include <algorithm>
#include <numeric>

#include "server/protocol/openai/answer_text.h"
#include "server/protocol/openai/endpoints/judge.h"
#include "server/protocol/openai/json_text.h"

namespace nereid::server::openai {
namespace {

constexpr size_t kMaxDocuments = 2048;

// Strings, or objects with a "text".
std::vector<std::string> read_documents(Fields& fields) {
  fields.require("documents");
  std::vector<std::string> documents;
  const Json* list = fields.array("documents");
  if (!list) return documents;
  if (list->empty()) fields.fail("documents", "empty_array", "Invalid 'documents': expected at least one document.");
  if (list->size() > kMaxDocuments) {
    fields.fail("documents", "array_above_max_length",
                fmt::format("Invalid 'documents': array too long. Expected an array with maximum length {}, but got an "
                            "array with length {} instead.",
                            kMaxDocuments, list->size()));
    return documents;
  }
  for (size_t i = 0; i < list->size(); ++i) {
    const Json* text = (*list)[i].is_object() ? json_find((*list)[i], "text") : &(*list)[i];
    if (!text || !text->is_string()) {
      fields.fail_type(fmt::format("documents[{}]", i), "a string or an object with a 'text'", (*list)[i]);
      return documents;
    }
    documents.push_back(text->get<std::string>());
  }
  return documents;
}

struct Ranking {
  std::string id, model;
  std::vector<std::string> documents;
  size_t most = 0;
  bool with_documents = false;
};

net::Response answer(const Ranking& ranking, const Judged& judged) {
  std::vector<size_t> order(ranking.documents.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return judged.scores[a] > judged.scores[b]; });
  order.resize(std::min(order.size(), ranking.most));
  std::string out = R"({"id":)";
  append_json_string(&out, ranking.id);
  out += R"(,"model":)";
  append_json_string(&out, ranking.model);
  out += fmt::format(R"(,"usage":{{"prompt_tokens":{0},"total_tokens":{0}}},"results":[)", judged.tokens);
  for (const size_t at : order) {
    if (at != order[0]) out += ',';
    out += fmt::format(R"({{"index":{},"relevance_score":)", at);
    append_float(&out, judged.scores[at]);
    if (ranking.with_documents) {
      out += R"(,"document":{"text":)";
      append_json_string(&out, ranking.documents[at]);
      out += '}';
    }
    out += '}';
  }
  return net::json_response(200, out += "]}");
}

}  // namespace

void rerank(const Service& service, net::Request request, ResponderPtr responder) {
  FirstError error;
  const Json body = read_body(request.body, &error);
  if (error.is_set()) return send_error(*responder, error.get());
  Fields fields(body, &error);
  const std::string name = fields.text("model").value_or("");
  const std::string query = fields.required_text("query").value_or("");
  Ranking ranking;
  ranking.documents = read_documents(fields);
  ranking.most = static_cast<size_t>(fields.integer("top_n", 1, INT32_MAX).value_or(INT32_MAX));
  // Cohere's second version never returns them, the others do unless told not to.
  ranking.with_documents = fields.boolean("return_documents").value_or(request.path != "/v2/rerank");
  const bool truncates = read_truncate(fields, true);
  fields.ignore({"max_tokens_per_doc", "max_chunks_per_doc", "rank_fields", "user", "priority"});
  fields.log_unknown("/v1/rerank");
  if (error.is_set()) return send_error(*responder, error.get());
  const FoundModel found = find_model(service, name, &error);
  if (error.is_set()) return send_error(*responder, error.get());
  if (!can_judge(found, *responder)) return;

  ranking.model = found.name;
  ranking.id = random_id("rerank-", 24, service.random);
  std::vector<std::string> texts = {query};
  texts.insert(texts.end(), ranking.documents.begin(), ranking.documents.end());
  std::vector<TextPair> pairs;
  for (size_t i = 1; i < texts.size(); ++i) pairs.push_back({.first = 0, .second = i});
  judge_and_send(found, std::move(texts), std::move(pairs), truncates, responder, "documents",
                 [ranking = std::move(ranking)](Judged&& judged) { return answer(ranking, judged); });
}

}  // namespace nereid::server::openai
